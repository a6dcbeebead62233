(* An average E is a positive functional with E 1 = 1, symmetric and with normal moments, that is linear in integrands
   whose averages exist (and 0 where none exists). *)
Require Import Reals.
Open Scope R_scope.
Module Type LAWS.
Parameter E : (R -> R) -> R.
Parameter Exists : (R -> R) -> Prop.
Parameter erf : R -> R.
Axiom Exists_add : forall f g, Exists f -> Exists g -> Exists (fun z => f z + g z).
Axiom Exists_scale : forall c f, Exists f -> Exists (fun z => c * f z).
Axiom Exists_const : forall c, Exists (fun _ => c).
Axiom Exists_power : forall k, Exists (fun z => z ^ k).
Axiom E_add : forall f g, Exists f -> Exists g -> E (fun z => f z + g z) = E f + E g.
Axiom E_scale : forall c f, E (fun z => c * f z) = c * E f.
Axiom E_one : E (fun _ => 1) = 1.
Axiom E_monotone : forall f, (forall z, 0 <= f z) -> 0 <= E f.
Axiom E_strict : forall f, Exists f -> (forall z, 0 < f z) -> 0 < E f.
Axiom E_reflect : forall f, E (fun z => f (- z)) = E f.
Axiom E_mean : E (fun z => z) = 0.
Axiom E_moment : forall k, E (fun z => z ^ S (S k)) = INR (S k) * E (fun z => z ^ k).
Axiom slope_of_erf : forall x, derivable_pt_lim erf x (2 * / sqrt PI * exp ((-1) * x ^ 2)).
End LAWS.
