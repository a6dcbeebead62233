(* A number of the suite, by interval arithmetic: E[z tanh z], restricted to [-8, 8]. What lies outside is below 1e-14.
   Requires coq-interval (Debian package libcoq-interval). *)
Require Import Reals Lra.
From Coquelicot Require Import Coquelicot.
From Interval Require Import Tactic.
Open Scope R_scope.

Lemma average_of_z_tanh_z :
  Rabs (RInt (fun z => z * tanh z * (exp (- z ^ 2 / 2) / sqrt (2 * PI))) (-8) 8 - 6057055096 / 10 ^ 10) <= / 10 ^ 8.
Proof.
  rewrite (RInt_ext _ (fun z => z * (1 - 2 / (exp (2 * z) + 1)) * (exp (- z ^ 2 / 2) / sqrt (2 * PI)))).
  - integral with (i_prec 40).
  - intros z _. replace (tanh z) with (1 - 2 / (exp (2 * z) + 1)); [reflexivity|]. pose proof (exp_pos z).
    unfold tanh, sinh, cosh. rewrite exp_Ropp. replace (2 * z) with (z + z) by ring. rewrite exp_plus. field. nra.
Qed.
