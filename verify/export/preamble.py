"""What every exported file begins with: what is taken for granted of averages and limits, and the tactics."""

from __future__ import annotations

import re
from pathlib import Path

from giantsteps.verify.export.laws import LAWS

# Names of the laws of averages and of erf, axioms or lemmas; Rocq's real numbers have axioms of their own.
LAW_AXIOMS = tuple(re.findall(r"^Axiom (\w+)", (Path(__file__).parent / "Laws.v").read_text("utf-8"), re.MULTILINE))
REAL_AXIOMS = ("classic", "sig_forall_dec", "sig_not_dec", "functional_extensionality_dep")

_AVERAGES = """\
(* Theorems of the kernel, one lemma for each. A limit is one of real functions, as the variable grows. *)
Require Import Reals Lra Lia FunctionalExtensionality.
Require Export Averages.
Open Scope R_scope.
Set Warnings "-all".

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
Lemma Exists_id : Exists (fun z => z).
Proof. replace (fun z : R => z) with (fun z => z ^ 1) by (extensionality z; ring). apply Exists_power. Qed.
Lemma Exists_drop f : Exists f -> Exists (fun z => E (fun _ => f z)).
Proof.
  intro H. replace (fun z => E (fun _ => f z)) with f; [exact H | extensionality z; symmetry].
  apply E_drop. reflexivity.
Qed.
Lemma E_zero : E (fun _ => 0) = 0.
Proof. apply E_drop. reflexivity. Qed.
Lemma sum_nil : Exists (fun _ => 0) /\\ E (fun _ => 0) = 0.
Proof. split; [apply Exists_const | exact E_zero]. Qed.
Lemma sum_cons c f g s :
  Exists f -> Exists g /\\ E g = s -> Exists (fun z => c * f z + g z) /\\ E (fun z => c * f z + g z) = c * E f + s.
Proof.
  intros F [G H]. split; [apply (Exists_add (fun z => c * f z)); [apply Exists_scale|]; assumption|].
  rewrite (E_add (fun z => c * f z) g), E_scale, H; [reflexivity | apply Exists_scale |]; assumption.
Qed.
Lemma E_left c f : E (fun z => f z * c) = E f * c.
Proof.
  transitivity (E (fun z => c * f z)); [apply E_ext; intro z; ring | rewrite E_scale; ring].
Qed.
Lemma E_at_least f g : Exists f -> Exists g -> (forall z, f z >= g z) -> E f >= E g.
Proof.
  intros F G H. assert (D : 0 <= E (fun z => f z + (-1) * g z)).
  { apply E_monotone. intro z. specialize (H z). lra. }
  rewrite (E_add f (fun z => (-1) * g z)), E_scale in D; [lra | assumption | apply Exists_scale; assumption].
Qed.
Lemma eq_sides (l l' r r' : R) : l = r -> l = l' -> r = r' -> l' = r'.
Proof. congruence. Qed.
Lemma ge_sides (l l' r r' : R) : l >= r -> l = l' -> r = r' -> l' >= r'.
Proof. congruence. Qed.
Lemma put (P : R -> Prop) (a b : R) : a = b -> P b -> P a.
Proof. congruence. Qed.
Lemma from (l r s : R) : s = 0 -> l - r = s -> l = r.
Proof. lra. Qed.
Lemma from_nil : 0 = 0.
Proof. reflexivity. Qed.
Lemma from_cons c l r s : l = r -> s = 0 -> c * (l - r) + s = 0.
Proof. intros H K. rewrite H, K. ring. Qed.

Definition eventually (P : R -> Prop) := exists m, forall x, m < x -> P x.
Definition Tends (f : R -> R) (v : R) := forall eps, 0 < eps -> eventually (fun x => Rabs (f x - v) < eps).
Lemma soon (P Q : R -> Prop) : eventually P -> eventually (fun x => P x -> Q x) -> eventually Q.
Proof.
  intros [m H] [n K]. exists (Rmax m n). intros x L.
  apply K; [apply Rle_lt_trans with (2 := L), Rmax_r | apply H, Rle_lt_trans with (2 := L), Rmax_l].
Qed.
Lemma always (P : R -> Prop) : (forall x, P x) -> eventually P.
Proof. intro H. exists 0. auto. Qed.
Lemma far (P : R -> Prop) : (forall x, 0 < x -> P x) -> eventually P.
Proof. intro H. exists 0. exact H. Qed.
Lemma tends_same f g v w : Tends f v -> eventually (fun x => f x = g x) -> v = w -> Tends g w.
Proof.
  intros H K L eps M. apply (soon _ _ K), (soon _ _ (H eps M)). exists 0. intros x _ N O.
  rewrite <- O, <- L. exact N.
Qed.
Lemma tends_unique f v w : Tends f v -> Tends f w -> v = w.
Proof.
  intros H K. destruct (Req_dec v w) as [|N]; [assumption | exfalso].
  assert (P : 0 < Rabs (v - w) / 2) by (assert (0 < Rabs (v - w)) by (apply Rabs_pos_lt; lra); lra).
  destruct (H _ P) as [m A]. destruct (K _ P) as [n B].
  set (x := Rmax m n + 1). assert (m < x) by (pose proof (Rmax_l m n); unfold x; lra).
  assert (n < x) by (pose proof (Rmax_r m n); unfold x; lra).
  specialize (A x ltac:(assumption)). specialize (B x ltac:(assumption)).
  pose proof (Rabs_triang (- (f x - v)) (f x - w)) as T. rewrite Rabs_Ropp in T.
  replace (- (f x - v) + (f x - w)) with (v - w) in T by ring. lra.
Qed.
"""

_TACTICS = """\
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

Lemma max_positive_left a b : 0 < a -> 0 < Rmax a b.
Proof. pose proof (Rmax_l a b). lra. Qed.
Lemma max_positive_right a b : 0 < b -> 0 < Rmax a b.
Proof. pose proof (Rmax_r a b). lra. Qed.
Lemma max_least_left a b : 0 <= a -> 0 <= Rmax a b.
Proof. pose proof (Rmax_l a b). lra. Qed.
Lemma max_least_right a b : 0 <= b -> 0 <= Rmax a b.
Proof. pose proof (Rmax_r a b). lra. Qed.

Lemma split_root a b : 0 <= a -> sqrt (a * b) = sqrt a * sqrt b.
Proof. apply sqrt_mult_alt. Qed.
Lemma split_root_right a b : 0 <= b -> sqrt (a * b) = sqrt a * sqrt b.
Proof. intro H. rewrite (Rmult_comm a), (Rmult_comm (sqrt a)). apply sqrt_mult_alt. exact H. Qed.

Lemma even_power x n : 0 <= x ^ (2 * n).
Proof. rewrite pow_mult. apply pow_le, pow2_ge_0. Qed.

Create HintDb signs.
Create HintDb averages.
#[global] Hint Rewrite sqrt_1 : roots.
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
  | |- 0 < Rmax _ _ => first [apply max_positive_left; sign | apply max_positive_right; sign]
  | |- 0 <= Rmax _ _ => first [apply max_least_left; sign | apply max_least_right; sign]
  | |- 0 < E _ => apply E_strict; [solve [auto with signs averages nocore] | intro; sign]
  | |- 0 <= sqrt _ => apply sqrt_pos
  | |- 0 <= Rabs _ => apply Rabs_pos
  | |- 0 <= exp _ => left; apply exp_pos
  | |- 0 <= PI => left; apply PI_RGT_0
  | |- 0 <= E _ => apply E_monotone; intro; sign
  | |- 0 <= _ ^ 2 => apply pow2_ge_0
  | |- 0 <= ?x ^ 4 => exact (even_power x 2)
  | |- 0 <= ?x ^ 6 => exact (even_power x 3)
  | |- 0 <= ?x ^ 8 => exact (even_power x 4)
  | |- 0 <= ?x ^ 10 => exact (even_power x 5)
  | |- 0 <= ?x ^ 12 => exact (even_power x 6)
  | |- 0 <= _ + _ => apply Rplus_le_le_0_compat; sign
  | |- 0 <= _ * _ => apply Rmult_le_pos; sign
  | |- 0 <= _ ^ _ => apply pow_le; sign
  | |- 0 <= / _ => left; apply Rinv_0_lt_compat; sign
  end
with cleared K := field_simplify_eq; [lra | repeat split; solve [auto with signs nocore | lra | assumption]]
with given :=
  match goal with
  | H : ?y <> 0 |- ?x <> 0 => let K := fresh in intro K; apply H; first [lra | rewrite K; lra | cleared K]
  | H : 0 <= ?y |- 0 <= ?x => replace x with y by lra; exact H
  | H : 0 < ?x |- ?x <> 0 => apply Rgt_not_eq; exact H
  | |- 0 <= _ => left; first [auto with signs nocore | structure]
  | H : 0 <= ?y, K : ?y <> 0 |- 0 < ?x => replace x with y by lra; destruct H as [H|H]; [exact H | destruct K; auto]
  end.
Ltac names := repeat match goal with
  | |- context [E ?f] => let e := fresh "e__" in set (e := E f) in *; clearbody e
  end.
(* The signs of averages, before these are names. *)
Ltac signed := repeat match goal with
  | |- context [E ?f] =>
    lazymatch goal with H : 0 <= E f |- _ => fail | _ => idtac end;
    let H := fresh "N__" in assert (H : 0 <= E f) by sign
  end.
Ltac given_equal := match goal with |- ?a = ?b => constr_eq a b; exact (eq_refl a) end.
(* An inverse of a product is one of inverses, also of nothing: what is divided by need not be known not to vanish. *)
Ltac inverted := lazymatch goal with |- context [Rinv _] => idtac end;
  repeat first [rewrite Rinv_mult | rewrite Rinv_inv | rewrite <- pow_inv]; lra.
(* Linear arithmetic over products, to which hypotheses with long terms are a burden. *)
Ltac alone := clear; lra.
(* Each inverse is a name, innermost first, and one name for all that are of the same by algebra. *)
Ltac bare a := lazymatch a with context [Rinv _] => fail | _ => idtac end.
Ltac unified := lazymatch goal with |- context [Rinv _] => idtac end;
  repeat match goal with
  | |- context [/ ?a] =>
    bare a; let i := fresh "i__" in set (i := / a);
    repeat match goal with |- context [/ ?b] => bare b; replace (/ b) with i by (unfold i; f_equal; alone) end;
    clearbody i
  end;
  alone.
(* Where nothing is divided by but numbers, linear arithmetic over products decides; it is far quicker than ring. *)
Ltac fractions :=
  match goal with
  | |- context [Rinv _] => idtac
  | |- context [Rdiv _ ?b] => lazymatch b with IZR _ => fail | _ => idtac end
  end; field; sign.
(* The square of a root is what it is the root of; the root of a whole number is the product of those of its primes. *)
Ltac squares := repeat match goal with
  | |- context [sqrt ?a] =>
    lazymatch goal with H : sqrt a * sqrt a = _ |- _ => fail | _ => idtac end;
    let H := fresh "S__" in assert (H : sqrt a * sqrt a = a) by (apply sqrt_def; sign)
  end.
(* The root of a product or an inverse is that of roots. *)
Ltac split_roots := repeat match goal with
  | |- context [sqrt (?a * ?b)] => first [rewrite (split_root a b) by sign | rewrite (split_root_right a b) by sign]
  | |- context [sqrt (/ ?a)] => rewrite (sqrt_inv a)
  | |- context [sqrt (?a ^ 2)] => rewrite (sqrt_pow2 a) by sign
  end.
(* reduced *)
(* What there is a root of is the square of a variable; that of a number stays what it is. *)
Ltac squared := repeat match goal with
  | H : sqrt ?a * sqrt ?a = ?a |- _ =>
    lazymatch a with IZR _ => fail | _ => idtac end;
    let s := fresh "s__" in
    try assert (0 < sqrt a) by (apply sqrt_lt_R0; sign);
    set (s := sqrt a) in *; clearbody s; rewrite <- ?H; clear H
  end.
Ltac rooted := lazymatch goal with |- context [sqrt _] => idtac end;
  split_roots; autorewrite with roots; squares; first [lra | squared; first [lra | fractions | reduced] | reduced].
(* Products of exponentials are exponentials of sums. *)
Ltac exponentials := lazymatch goal with |- context [exp _] => idtac end;
  unfold Rpower; rewrite ?ln_exp; repeat rewrite <- exp_plus; repeat rewrite <- exp_Ropp;
  repeat rewrite <- exp_plus; f_equal; first [lra | fractions].
Ltac specials := progress rewrite ?Rmult_0_l, ?Rmult_0_r, ?exp_0, ?ln_1, ?sqrt_0, ?sqrt_1, ?Rabs_R0, ?Rabs_R1.
Ltac positives := lazymatch goal with
  | |- context [exp (ln _)] => rewrite exp_ln by sign
  | |- context [Rpower _ 0] => rewrite Rpower_O by sign
  end.
Ltac same :=
  first [given_equal | positives; same
  | names; first [alone | lra | unified | inverted | fractions | rooted | exponentials | specials; same]
  | progress signed; names; fractions].
Ltac gather :=
  repeat match goal with H : eventually _ |- eventually _ => refine (soon _ _ H _); clear H end; apply far.
Ltac meet :=
  repeat match goal with H : near _ _ |- near _ _ => refine (near_and _ _ _ H _); clear H end; apply near_all.
Ltac counted := cbv beta; cbn [pred]; rewrite ?INR_IZR_INZ; cbn [Z.of_nat Pos.of_succ_nat Pos.succ].
Ltac put H := lazymatch type of H with ?a = _ => pattern a; refine (put _ _ _ H _); cbv beta end.
"""


def _reduced(most: int = 6) -> str:
    """Algebra, where the square of a root is what it is the root of: for all such hypotheses at once, so that what
    fails does not fail once for each order of them.
    """
    lines = ["Ltac reduced := lazymatch goal with"]
    for count in range(most, 0, -1):
        names = [f"H{k}" for k in range(count)]
        known = ", ".join(f"{name} : sqrt _ * sqrt _ = _" for name in names)
        given = f"[{' '.join(names)}]"
        lines.append(f"  | {known} |- context [Rinv _] => field {given}; sign")
        lines.append(f"  | {known} |- context [Rdiv _ _] => field {given}; sign")
        lines.append(f"  | {known} |- _ => ring {given}")
    return "\n".join([*lines, "  end.", ""])


PREAMBLE = _AVERAGES + LAWS + _TACTICS.replace("(* reduced *)\n", _reduced())
