"""What is proved in every exported file of limits, derivatives, logarithms and products, before any theorem."""

LAWS = """\
Lemma tends_const c : Tends (fun _ => c) c.
Proof. intros eps H. apply always. intro x. rewrite Rminus_diag_eq, Rabs_R0; trivial. Qed.
Lemma tends_through g f v : continuity_pt g v -> Tends f v -> Tends (fun x => g (f x)) (g v).
Proof.
  intros C H eps P. destruct (C eps P) as [a [A K]]. apply (soon _ _ (H a A)), always. intros x L.
  destruct (Req_dec (f x) v) as [D|N].
  - rewrite D, Rminus_diag_eq, Rabs_R0; trivial.
  - apply K. split; [split; [exact I | auto] | exact L].
Qed.
Lemma tends_add f g v w : Tends f v -> Tends g w -> Tends (fun x => f x + g x) (v + w).
Proof.
  intros H K eps P. assert (Q : 0 < eps / 2) by lra. apply (soon _ _ (K _ Q)), (soon _ _ (H _ Q)), always.
  intros x L M. replace (f x + g x - (v + w)) with ((f x - v) + (g x - w)) by ring.
  eapply Rle_lt_trans; [apply Rabs_triang | lra].
Qed.
Lemma tends_scale c f v : Tends f v -> Tends (fun x => c * f x) (c * v).
Proof. apply (tends_through (fun y => c * y)). reg. Qed.
Lemma tends_pow k f v : Tends f v -> Tends (fun x => f x ^ k) (v ^ k).
Proof. apply (tends_through (fun y => y ^ k)). reg. Qed.
Lemma tends_mul f g v w : Tends f v -> Tends g w -> Tends (fun x => f x * g x) (v * w).
Proof.
  intros H K. pose proof (tends_add _ _ _ _ H K) as A. pose proof (tends_add _ _ _ _ H (tends_scale (-1) _ _ K)) as B.
  refine (tends_same _ _ _ _ (tends_scale (/ 4) _ _
    (tends_add _ _ _ _ (tends_pow 2 _ _ A) (tends_scale (-1) _ _ (tends_pow 2 _ _ B)))) _ _);
    [apply always; intro x|]; field.
Qed.
Lemma tends_inv f v : Tends f v -> v <> 0 -> Tends (fun x => / f x) (/ v).
Proof. intros H N. revert H. apply (tends_through (fun y => / y)). apply (continuity_pt_inv id); [reg | exact N]. Qed.
Lemma tends_exp f v : Tends f v -> Tends (fun x => exp (f x)) (exp v).
Proof. apply tends_through. reg. Qed.
Lemma tends_ln f v : Tends f v -> 0 < v -> Tends (fun x => ln (f x)) (ln v).
Proof.
  intros H P. revert H. apply tends_through, derivable_continuous_pt. exists (/ v). apply derivable_pt_lim_ln, P.
Qed.
Lemma tends_sqrt f v : Tends f v -> Tends (fun x => sqrt (f x)) (sqrt v).
Proof.
  intros H eps P. destruct (Rlt_le_dec v 0) as [N|N].
  - apply (soon _ _ (H (- v) ltac:(lra))), always. intros x L. apply Rabs_def2 in L.
    rewrite !sqrt_neg_0 by lra. rewrite Rminus_diag_eq, Rabs_R0; trivial.
  - revert eps P. apply tends_through; [apply continuity_pt_sqrt|]; assumption.
Qed.
Lemma tends_power e f v : Tends f v -> 0 < v -> Tends (fun x => Rpower (f x) e) (Rpower v e).
Proof. intros H P. apply tends_exp, tends_scale, tends_ln; assumption. Qed.
Lemma tends_inverse : Tends (fun x => / x) 0.
Proof.
  intros eps H. exists (/ eps). intros x L.
  assert (0 < / eps) by (apply Rinv_0_lt_compat; assumption).
  assert (0 < / x) by (apply Rinv_0_lt_compat; lra).
  rewrite Rminus_0_r, Rabs_pos_eq by lra.
  rewrite <- (Rinv_inv eps). apply Rinv_lt_contravar; [apply Rmult_lt_0_compat; lra | assumption].
Qed.
Lemma tends_root : Tends (fun x => / sqrt x) 0.
Proof.
  refine (tends_same _ _ _ _ (tends_sqrt _ _ tends_inverse) _ _); [|apply sqrt_0].
  apply far. intros x P. apply sqrt_inv.
Qed.
Lemma tends_decay r : 0 < r -> Tends (fun x => exp (- (r * x))) 0.
Proof.
  intros P eps Q. exists (- ln eps / r). intros x L. rewrite Rminus_0_r, Rabs_pos_eq by (left; apply exp_pos).
  rewrite <- (exp_ln eps Q) at 1. apply exp_increasing. apply (Rmult_lt_compat_r r) in L; [|exact P].
  unfold Rdiv in L. rewrite Rmult_assoc, Rinv_l in L; lra.
Qed.
Lemma tends_nonzero f v : Tends f v -> v <> 0 -> eventually (fun x => f x <> 0).
Proof.
  intros H N. apply (soon _ _ (H _ (Rabs_pos_lt v N))), always. intros x L K. rewrite K in L.
  rewrite Rabs_minus_sym, Rminus_0_r in L. lra.
Qed.
Lemma tends_least f v : Tends f v -> eventually (fun x => 0 <= f x) -> 0 <= v.
Proof.
  intros H K. destruct (Rle_lt_dec 0 v) as [L|L]; [exact L | exfalso].
  assert (N : eventually (fun _ => False)).
  { apply (soon _ _ K), (soon _ _ (H (- v) ltac:(lra))), always. intros x A B. apply Rabs_def2 in A. lra. }
  destruct N as [m M]. apply (M (m + 1)). lra.
Qed.
Lemma tends_order f g v w : Tends f v -> Tends g w -> eventually (fun x => f x >= g x) -> v >= w.
Proof.
  intros H K L. pose proof (tends_least _ _ (tends_add _ _ _ _ H (tends_scale (-1) _ _ K))) as A.
  enough (0 <= v + -1 * w) by lra. apply A, (soon _ _ L), always. intros x M. lra.
Qed.
Lemma tends_between f g h v :
  Tends f v -> Tends h v -> eventually (fun x => f x >= g x) -> eventually (fun x => g x >= h x) -> Tends g v.
Proof.
  intros H K A B eps P. apply (soon _ _ A), (soon _ _ B), (soon _ _ (H eps P)), (soon _ _ (K eps P)), always.
  intros x L M N O. apply Rabs_def2 in L, M. apply Rabs_def1; lra.
Qed.
Lemma of_quotient a p q : q <> 0 -> a * q = p -> a = p * / q.
Proof. intros N H. rewrite <- H. field. exact N. Qed.
Lemma ge_product a b c d : a >= b -> c >= d -> (a - b) * (c - d) >= 0.
Proof. intros. apply Rle_ge, Rmult_le_pos; lra. Qed.
Lemma root_of_zero k b : b ^ k = 0 -> b = 0.
Proof.
  intro H. destruct (Req_dec b 0) as [|N]; [assumption | destruct (pow_nonzero b k N H)].
Qed.
Lemma pow_grows k a b : 0 <= a -> a < b -> a ^ S k < b ^ S k.
Proof.
  intros A L. induction k as [|k H]; [simpl; lra|].
  change (a * a ^ S k < b * b ^ S k). apply Rmult_le_0_lt_compat; [exact A | apply pow_le, A | exact L | exact H].
Qed.
Lemma equal_roots k a b : 0 <= a -> 0 <= b -> a ^ S k = b ^ S k -> a = b.
Proof.
  intros A B H. destruct (Rtotal_order a b) as [L|[L|L]]; [|exact L|].
  - pose proof (pow_grows k a b A L). lra.
  - pose proof (pow_grows k b a B L). lra.
Qed.
Lemma log_of w w' s s' : exp s' = w' -> w = w' -> s' = s -> ln w = s.
Proof. intros <- -> <-. apply ln_exp. Qed.
Lemma exp_as s t w : exp t = w -> s = t -> exp s = w.
Proof. intros <- ->. reflexivity. Qed.
Lemma exp_cons a p s q : exp a = p -> exp s = q -> exp (a + s) = p * q.
Proof. intros <- <-. apply exp_plus. Qed.
Lemma exp_times k r c : c = INR k -> exp (c * r) = exp r ^ k.
Proof.
  intros ->. induction k as [|k H]; [simpl; rewrite Rmult_0_l; apply exp_0|].
  rewrite S_INR. cbn [pow]. rewrite <- H, <- exp_plus. f_equal. ring.
Qed.
Lemma exp_inverse k r c : - c = INR k -> exp (c * r) = / exp r ^ k.
Proof. intro H. rewrite <- (exp_times k r (- c) H), <- exp_Ropp. f_equal. ring. Qed.
Lemma log_cons c f p s q : exp (c * ln f) = p -> exp s = q -> exp (c * ln f + s) = p * q.
Proof. intros <- <-. apply exp_plus. Qed.
Lemma log_power k f c : c = INR k -> 0 < f -> exp (c * ln f) = f ^ k.
Proof. intros -> P. exact (Rpower_pow k f P). Qed.
Lemma log_power_inverse k f c : - c = INR k -> 0 < f -> exp (c * ln f) = / f ^ k.
Proof. intros H P. rewrite <- (log_power k f (- c) H P), <- exp_Ropp. f_equal. ring. Qed.
Lemma log_root k f c : 2 * c = INR k -> 0 < f -> exp (c * ln f) = sqrt f ^ k.
Proof.
  intros H P. rewrite <- (log_power k (sqrt f) (INR k) eq_refl (sqrt_lt_R0 f P)). f_equal.
  rewrite <- (sqrt_sqrt f) at 1 by lra. rewrite ln_mult by (apply sqrt_lt_R0; assumption). rewrite <- H. ring.
Qed.
Lemma log_root_inverse k f c : - (2 * c) = INR k -> 0 < f -> exp (c * ln f) = / sqrt f ^ k.
Proof.
  intros H P. rewrite <- (log_root k f (- c)) by (assumption || lra). rewrite <- exp_Ropp. f_equal. ring.
Qed.
Lemma unequal a b : a = b -> b <> 0 -> a <> 0.
Proof. congruence. Qed.
Definition Slope (f : R -> R) (x l : R) := derivable_pt_lim f x l.
Lemma slope_same f x l m : Slope f x l -> l = m -> Slope f x m.
Proof. intros H <-. exact H. Qed.
Lemma slope_const c x : Slope (fun _ => c) x 0.
Proof. apply derivable_pt_lim_const. Qed.
Lemma slope_id x : Slope (fun y => y) x 1.
Proof. apply derivable_pt_lim_id. Qed.
Lemma slope_add f g x a b : Slope f x a -> Slope g x b -> Slope (fun y => f y + g y) x (a + b).
Proof. apply derivable_pt_lim_plus. Qed.
Lemma slope_mul f g x a b : Slope f x a -> Slope g x b -> Slope (fun y => f y * g y) x (a * g x + f x * b).
Proof. apply derivable_pt_lim_mult. Qed.
Lemma slope_through g f x a b : Slope g (f x) b -> Slope f x a -> Slope (fun y => g (f y)) x (b * a).
Proof. intros H K. apply (derivable_pt_lim_comp f g); assumption. Qed.
Lemma slope_pow k f x a : Slope f x a -> Slope (fun y => f y ^ k) x (INR k * f x ^ pred k * a).
Proof. apply (slope_through (fun y => y ^ k)). apply derivable_pt_lim_pow. Qed.
Lemma slope_inv f x a : Slope f x a -> f x <> 0 -> Slope (fun y => / f y) x (- (a / f x ^ 2)).
Proof.
  intros H N. pose proof (derivable_pt_lim_div _ _ _ _ _ (slope_const 1 x) H N) as K.
  replace (- (a / f x ^ 2)) with ((0 * f x - a * 1) / Rsqr (f x)) by (unfold Rsqr; field; exact N).
  intros eps P. destruct (K eps P) as [d L]. exists d. intros h A B. specialize (L h A B).
  unfold div_fct in L. unfold Rdiv in L at 2 3. rewrite !Rmult_1_l in L. exact L.
Qed.
Lemma slope_exp f x a : Slope f x a -> Slope (fun y => exp (f y)) x (exp (f x) * a).
Proof. apply slope_through, derivable_pt_lim_exp. Qed.
Lemma slope_ln f x a : Slope f x a -> 0 < f x -> Slope (fun y => ln (f y)) x (/ f x * a).
Proof. intros H P. revert H. apply slope_through, derivable_pt_lim_ln, P. Qed.
Lemma slope_sqrt f x a : Slope f x a -> 0 < f x -> Slope (fun y => sqrt (f y)) x (/ (2 * sqrt (f x)) * a).
Proof. intros H P. revert H. apply slope_through, derivable_pt_lim_sqrt, P. Qed.
Lemma slope_power e f x a :
  Slope f x a -> 0 < f x -> Slope (fun y => Rpower (f y) e) x (Rpower (f x) e * (e * (/ f x * a))).
Proof.
  intros H P. unfold Rpower.
  refine (slope_same _ _ _ _ (slope_exp _ _ _ (slope_mul _ _ _ _ _ (slope_const e x) (slope_ln _ _ _ H P))) _). ring.
Qed.
Lemma slope_erf f x a w :
  Slope f x a -> exp ((-1) * f x ^ 2) = w -> Slope (fun y => erf (f y)) x (2 * / sqrt PI * w * a).
Proof. intros H <-. revert H. apply slope_through, slope_of_erf. Qed.
Lemma slope_sin f x a : Slope f x a -> Slope (fun y => sin (f y)) x (cos (f x) * a).
Proof. apply slope_through, derivable_pt_lim_sin. Qed.
Lemma slope_cos f x a : Slope f x a -> Slope (fun y => cos (f y)) x (- sin (f x) * a).
Proof. apply slope_through, derivable_pt_lim_cos. Qed.
(* What holds just above x. *)
Definition near (x : R) (P : R -> Prop) := exists e, 0 < e /\\ forall y, x <= y -> y < x + e -> P y.
Lemma near_and x (P Q : R -> Prop) : near x P -> near x (fun y => P y -> Q y) -> near x Q.
Proof.
  intros [d [D H]] [e [E K]]. exists (Rmin d e). split; [apply Rmin_pos; assumption|]. intros y L M.
  pose proof (Rmin_l d e). pose proof (Rmin_r d e). apply K; [exact L | lra | apply H; [exact L | lra]].
Qed.
Lemma near_all x (P : R -> Prop) : (forall y, x <= y -> P y) -> near x P.
Proof. intro H. exists 1. split; [lra | auto]. Qed.
Lemma near_negative x : x < 0 -> near x (fun y => y < 0).
Proof. intro H. exists (- x). split; intros; lra. Qed.
Lemma near_nonzero f x a : Slope f x a -> f x <> 0 -> near x (fun y => f y <> 0).
Proof.
  intros S N. assert (C : continuity_pt f x) by (apply derivable_continuous_pt; exists a; exact S).
  destruct (C (Rabs (f x)) (Rabs_pos_lt _ N)) as [e [E K]]. exists e. split; [exact E|]. intros y L M Z.
  destruct (Req_dec x y) as [<-|D]; [contradiction|].
  specialize (K y). simpl in K. unfold R_dist in K. rewrite Z in K. unfold Rminus in K at 2.
  rewrite Rplus_0_l, Rabs_Ropp in K.
  enough (Rabs (f x) < Rabs (f x)) by lra. apply K. split; [split; [exact I | exact D] | rewrite Rabs_pos_eq; lra].
Qed.
Lemma slopes_equal f g x a b : Slope f x a -> Slope g x b -> near x (fun y => f y = g y) -> a = b.
Proof.
  intros H K [c [C S]]. destruct (Req_dec a b) as [|N]; [assumption | exfalso].
  assert (P : 0 < Rabs (a - b) / 2) by (assert (0 < Rabs (a - b)) by (apply Rabs_pos_lt; lra); lra).
  destruct (H _ P) as [d A]. destruct (K _ P) as [e B].
  set (h := Rmin c (Rmin d e) / 2). pose proof (Rmin_l c (Rmin d e)). pose proof (Rmin_r c (Rmin d e)).
  pose proof (Rmin_l d e). pose proof (Rmin_r d e). pose proof (cond_pos d). pose proof (cond_pos e).
  assert (Q : 0 < Rmin c (Rmin d e)) by (repeat apply Rmin_pos; assumption).
  assert (0 < h < c /\\ h < d /\\ h < e) by (unfold h; repeat split; lra).
  specialize (A h ltac:(lra) ltac:(rewrite Rabs_pos_eq; lra)).
  specialize (B h ltac:(lra) ltac:(rewrite Rabs_pos_eq; lra)).
  rewrite (S (x + h)), (S x) in A by lra. revert A B. set (q := (g (x + h) - g x) / h). intros A B.
  pose proof (Rabs_triang (- (q - a)) (q - b)) as T. rewrite Rabs_Ropp in T.
  replace (- (q - a) + (q - b)) with (a - b) in T by ring. lra.
Qed.
"""
