"""What every exported file begins with: what is taken for granted of averages and limits, and the tactics."""

# Names of the axioms on averages; Rocq's real numbers have axioms of their own.
AVERAGE_AXIOMS = ("E_add", "E_scale", "E_one", "E_monotone", "E_strict", "E_reflect", "E_mean", "E_moment")
REAL_AXIOMS = ("sig_forall_dec", "sig_not_dec", "functional_extensionality_dep")

PREAMBLE = """\
(* Theorems of the kernel, one lemma for each inference. Averages are a linear, positive functional E with E 1 = 1,
   symmetric and with normal moments, one for each variable. Of Tends e v x, "e tends to v as x grows", Rocq knows only
   that equal terms have equal limits: what a rule of limits concludes is an axiom of its own, and so are Stein's lemma
   and derivatives where they are used. *)
Require Import Reals Lra FunctionalExtensionality.
Open Scope R_scope.
Set Warnings "-all".

Parameter E : (R -> R) -> R.
Parameter Tends : R -> R -> R -> Prop.
Parameter erf : R -> R.
Parameter power : R -> R -> R.
Axiom E_add : forall f g, E (fun z => f z + g z) = E f + E g.
Axiom E_scale : forall c f, E (fun z => c * f z) = c * E f.
Axiom E_one : E (fun _ => 1) = 1.
Axiom E_monotone : forall f, (forall z, 0 <= f z) -> 0 <= E f.
Axiom E_strict : forall f, (forall z, 0 < f z) -> 0 < E f.
Axiom E_reflect : forall f, E (fun z => f (- z)) = E f.
Axiom E_mean : E (fun z => z) = 0.
Axiom E_moment : forall k, E (fun z => z ^ S (S k)) = INR (S k) * E (fun z => z ^ k).

Lemma E_ext f g : (forall z, f z = g z) -> E f = E g.
Proof. intro H. f_equal. extensionality z. apply H. Qed.
Lemma E_drop f c : (forall z, f z = c) -> E f = c.
Proof.
  intro H. transitivity (E (fun _ => c * 1)).
  - apply E_ext. intro z. rewrite H. ring.
  - rewrite (E_scale c (fun _ => 1)), E_one. ring.
Qed.
Lemma E_mirror f g : (forall z, f (- z) = g z) -> E f = E g.
Proof. intro H. rewrite <- E_reflect. apply E_ext. exact H. Qed.
Lemma E_zeroth : E (fun z => z ^ 0) = 1.
Proof. apply E_drop. reflexivity. Qed.
Lemma E_first : E (fun z => z ^ 1) = 0.
Proof. transitivity (E (fun z => z)); [apply E_ext; intro z; ring | exact E_mean]. Qed.
Lemma E_zero : E (fun _ => 0) = 0.
Proof. apply E_drop. reflexivity. Qed.
Lemma E_cons c f g : E (fun z => c * f z + g z) = c * E f + E g.
Proof. rewrite (E_add (fun z => c * f z) g), E_scale. reflexivity. Qed.
Lemma E_right c f : E (fun z => c * f z) = c * E f.
Proof. apply E_scale. Qed.
Lemma E_left c f : E (fun z => f z * c) = E f * c.
Proof.
  transitivity (E (fun z => c * f z)); [apply E_ext; intro z; ring | rewrite E_scale; ring].
Qed.
Lemma E_at_least f g : (forall z, f z >= g z) -> E f >= E g.
Proof.
  intro H. assert (D : 0 <= E (fun z => f z + (-1) * g z)).
  { apply E_monotone. intro z. specialize (H z). lra. }
  rewrite (E_add f (fun z => (-1) * g z)), E_scale in D. lra.
Qed.
Lemma eq_equal (l l' r r' : R) : l = l' -> r = r' -> l = r -> l' = r'.
Proof. congruence. Qed.
Lemma ge_equal l l' r r' : l = l' -> r = r' -> l >= r -> l' >= r'.
Proof. congruence. Qed.
Lemma tends_equal l l' r r' x : l = l' -> r = r' -> Tends l r x -> Tends l' r' x.
Proof. congruence. Qed.
Lemma zero_term c l r : l = r -> c * (l - r) = 0.
Proof. intro H. rewrite H. ring. Qed.
Lemma plus_zero a b : a = 0 -> b = 0 -> a + b = 0.
Proof. intros H K. rewrite H, K. ring. Qed.
Lemma ge_sum l r s : l - r = s -> 0 <= s -> l >= r.
Proof. lra. Qed.
Lemma ge_term c l r : 0 <= c -> l >= r -> 0 <= c * (l - r).
Proof. intros. apply Rmult_le_pos; lra. Qed.
Lemma eq_term c l r : l = r -> 0 <= c * (l - r).
Proof. intro H. rewrite H. lra. Qed.
Lemma square_term w b : 0 <= w -> 0 <= w * b ^ 2.
Proof. intro H. apply Rmult_le_pos; [exact H | apply pow2_ge_0]. Qed.
Lemma root_square b : 0 <= b -> sqrt b ^ 2 = b.
Proof. intro H. simpl. rewrite Rmult_1_r. apply sqrt_def. exact H. Qed.
Lemma root_unique b s : 0 <= s -> s ^ 2 = b -> sqrt b = s.
Proof. intros H K. rewrite <- K. apply sqrt_pow2. exact H. Qed.
Lemma add_positive_left a b : 0 < a -> 0 <= b -> 0 < a + b.
Proof. lra. Qed.
Lemma add_positive_right a b : 0 <= a -> 0 < b -> 0 < a + b.
Proof. lra. Qed.

Create HintDb signs.
Ltac sign := solve [ trivial | auto with signs nocore | lra | structure | given ]
with structure :=
  lazymatch goal with
  | |- _ /\\ _ => split; sign
  | |- _ * _ <> 0 => apply Rmult_integral_contrapositive_currified; sign
  | |- _ ^ _ <> 0 => apply pow_nonzero; sign
  | |- / _ <> 0 => apply Rinv_neq_0_compat; sign
  | |- ?x <> 0 => apply Rgt_not_eq; sign
  | |- _ > 0 => apply Rlt_gt; sign
  | |- 0 < _ + _ => first [apply add_positive_left; sign | apply add_positive_right; sign]
  | |- 0 < _ * _ => apply Rmult_lt_0_compat; sign
  | |- 0 < _ ^ _ => apply pow_lt; sign
  | |- 0 < / _ => apply Rinv_0_lt_compat; sign
  | |- 0 < _ / _ => apply Rdiv_lt_0_compat; sign
  | |- 0 < sqrt _ => apply sqrt_lt_R0; sign
  | |- 0 < exp _ => apply exp_pos
  | |- 0 < PI => apply PI_RGT_0
  | |- 0 < E _ => apply E_strict; intro; sign
  | |- 0 <= sqrt _ => apply sqrt_pos
  | |- 0 <= Rabs _ => apply Rabs_pos
  | |- 0 <= exp _ => left; apply exp_pos
  | |- 0 <= PI => left; apply PI_RGT_0
  | |- 0 <= E _ => apply E_monotone; intro; sign
  | |- 0 <= _ ^ 2 => apply pow2_ge_0
  | |- 0 <= _ + _ => apply Rplus_le_le_0_compat; sign
  | |- 0 <= _ * _ => apply Rmult_le_pos; sign
  | |- 0 <= _ ^ _ => apply pow_le; sign
  | |- 0 <= / _ => left; apply Rinv_0_lt_compat; sign
  end
with given :=
  match goal with
  | H : ?y <> 0 |- ?x <> 0 => let K := fresh in intro K; apply H; lra
  | H : 0 <= ?y |- 0 <= ?x => replace x with y by ring; exact H
  | H : 0 < ?x |- ?x <> 0 => apply Rgt_not_eq; exact H
  | |- 0 <= _ => left; first [auto with signs nocore | structure]
  end.
Ltac algebra := first [reflexivity | ring | field; sign].
(* Roots of equal terms, and functions and averages of them, are one. *)
Ltac twins := repeat match goal with
  | |- context [?f ?a] => lazymatch type of a with R => idtac end;
    match goal with |- context [f ?b] =>
      lazymatch type of b with R => idtac end; tryif constr_eq a b then fail else
      lazymatch f with
      | sqrt => replace (sqrt a) with (sqrt b) by (f_equal; algebra)
      | exp => replace (exp a) with (exp b) by (f_equal; algebra)
      | _ => is_const f; replace (f a) with (f b) by (f_equal; algebra)
      end
    end
  end.
(* The square of a root is what it is the root of. *)
Ltac rooted := match goal with |- context [sqrt ?a] =>
    let H := fresh in assert (H : sqrt a * sqrt a = a) by (apply sqrt_def; sign);
    first [ring [H] | field [H]; sign | match goal with |- context [sqrt ?b] =>
      tryif constr_eq a b then fail else
      let K := fresh in assert (K : sqrt b * sqrt b = b) by (apply sqrt_def; sign);
      first [ring [H K] | field [H K]; sign] end]
  end.
Ltac same := first [algebra | rooted | progress twins; first [algebra | rooted]].
"""
