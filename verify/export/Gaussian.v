(* The average of f over a normal variable, as the limit of integrals of f(z) exp(-z^2/2) over [-a, a], divided by those
   of exp(-z^2/2), as a grows; 0 where there is none. All LAWS are proved. Requires Coquelicot. *)
Require Import Reals Lra Lia Classical FunctionalExtensionality.
From Coquelicot Require Import Coquelicot.
Require Export Laws.
Open Scope R_scope.

Ltac plain := unfold minus, plus, opp, scal, zero; simpl; unfold mult; simpl.
Ltac by_slope := apply (ex_derive_continuous (V := R_NormedModule)).

Module Gaussian : LAWS.
Definition bell x := exp (- x ^ 2 / 2).
Definition mass a := RInt bell (- a) a.
Definition average f (l : R) :=
  exists F, (forall a, is_RInt (fun z => f z * bell z) (- a) a (F a)) /\ is_lim (fun a => F a / mass a) p_infty l.
Definition Exists f := exists l, average f l.
Definition E f := real (Lub_Rbar (average f)).
Definition erf x := 2 * / sqrt PI * RInt (fun t => exp (-1 * t ^ 2)) 0 x.
Lemma smooth (f : R -> R) a b : (forall z, ex_derive f z) -> is_RInt f a b (RInt f a b).
Proof. intro H. apply (RInt_correct f), @ex_RInt_continuous. intros. by_slope. apply H. Qed.
Lemma slope_of_erf x : derivable_pt_lim erf x (2 * / sqrt PI * exp (-1 * x ^ 2)).
Proof. set (f := fun t => exp (-1 * t ^ 2)).
  assert (S : forall t, ex_derive f t) by (intro; unfold f; auto_derive; exact I).
  apply is_derive_Reals, (is_derive_scal (RInt f 0)), (is_derive_RInt f (RInt f 0) 0); [|by_slope; apply S].
  apply filter_forall. intro y. apply smooth, S. Qed.

(* The integral of a positive function is positive, continuous or not. If it were 0, then h < eps on one of n equal
   parts, for any eps and some n; nested such parts share a point, where h would vanish. *)
Lemma tagged (h : R -> R) eps step n : 0 < step -> forall c,
  (forall i, (i < n)%nat -> exists x, c + INR i * step <= x <= c + INR (S i) * step /\ eps <= h x) ->
  exists s, (pointed_subdiv s /\ SF_h s = c /\ seq.last (SF_h s) (SF_lx s) = c + INR n * step) /\
    seq_step (SF_lx s) <= step /\ eps * (INR n * step) <= Riemann_sum (V := R_NormedModule) h s.
Proof. intro P. induction n as [|n IH]; intros c H.
  - exists (mkSF_seq c nil). unfold seq_step, Riemann_sum, zero. simpl. repeat split; try lra; inversion H0.
  - destruct (H O ltac:(lia)) as [x [X U]]. destruct (IH (c + step)) as [s [[T [B L]] [F V]]].
    { intros i I. destruct (H (S i) ltac:(lia)) as [y [Y W]]. exists y. rewrite !S_INR in *. split; [lra | exact W]. }
    exists (SF_cons (c, x) s). simpl INR in X. rewrite Riemann_sum_cons, S_INR. split; [split | split].
    + intros [|i] I; [simpl; rewrite B; lra | apply T]. rewrite SF_size_cons in I. lia.
    + split; [|transitivity (seq.last (SF_h s) (SF_lx s)); [|rewrite L; ring]]; reflexivity.
    + change (Rmax (Rabs (SF_h s - c)) (seq_step (SF_lx s)) <= step). apply Rmax_lub; [|exact F]. rewrite B.
      replace (c + step - c) with step by ring. rewrite Rabs_pos_eq; lra.
    + rewrite B. plain. nra. Qed.
Lemma thin (h : R -> R) c d eps : c < d -> 0 < eps -> is_RInt h c d 0 -> exists n i, (i < n)%nat /\
  forall x, c + INR i * ((d - c) / INR n) <= x <= c + INR (S i) * ((d - c) / INR n) -> h x < eps.
Proof. intros L P H. apply NNPP. intro N. assert (Q : 0 < eps * (d - c)) by (apply Rmult_lt_0_compat; lra).
  destruct (H _ (locally_ball 0 (mkposreal _ Q))) as [delta D]. pose proof (cond_pos delta).
  destruct (archimed_cor1 (delta / (d - c))) as [n [A B]]; [apply Rdiv_lt_0_compat; lra|]. apply lt_0_INR in B.
  destruct (tagged h eps ((d - c) / INR n) n) with (c := c) as [s [T [F V]]]; [apply Rdiv_lt_0_compat; lra | |].
  - intros i I. apply NNPP. intro K. apply N. exists n, i. split; [exact I | intros]. apply Rnot_le_lt. intro. eauto.
  - replace (INR n * ((d - c) / INR n)) with (d - c) in * by (field; lra). replace (c + (d - c)) with d in T by ring.
    specialize (D s). rewrite Rmin_left, Rmax_right in D by lra. apply (Rmult_lt_compat_r (d - c)) in A; [|lra].
    replace (delta / (d - c) * (d - c)) with (pos delta) in A by (field; lra). unfold Rdiv in F.
    specialize (D ltac:(lra) T). rewrite sign_eq_1 in D by lra.
    change (Rabs (1 * Riemann_sum (V := R_NormedModule) h s + - 0) < eps * (d - c)) in D. apply Rabs_def2 in D. lra.
Qed.
Lemma find (P : nat -> Prop) : (exists n, P n) -> {n | P n}.
Proof. intro H. destruct (LPO P (fun n => classic (P n))) as [F|N]; [exact F | exfalso; firstorder]. Qed.
Lemma within (h : R -> R) c d a b v : (forall x, 0 < h x) -> is_RInt h c d v -> c <= a <= b -> b <= d ->
  exists w, is_RInt h a b w /\ 0 <= w <= v.
Proof. intros P H A B. assert (X : forall u v, c <= u <= v -> v <= d -> is_RInt h u v (RInt h u v) /\ 0 <= RInt h u v).
  { intros u w U V. assert (Y : is_RInt h u w (RInt h u w)).
    { apply (RInt_correct h u w), (ex_RInt_Chasles_1 (V := R_CompleteNormedModule) h u w d); [lra|].
      apply (ex_RInt_Chasles_2 (V := R_CompleteNormedModule) h c); [lra | exists v; exact H]. }
    split; [exact Y | apply (is_RInt_ge_0 _ _ _ _ (proj2 U) Y)]. intros; left; apply P. }
  exists (RInt h a b). destruct (X c a), (X a b), (X b d); try lra. split; [assumption|].
  assert (Z : is_RInt h c d (plus (RInt h c a) (plus (RInt h a b) (RInt h b d))))
    by (apply (is_RInt_Chasles h c a d); [|apply (is_RInt_Chasles h a b d)]; assumption).
  assert (v = RInt h c a + (RInt h a b + RInt h b d)); [|lra]. rewrite <- (is_RInt_unique h c d v H).
  apply (is_RInt_unique h), Z. Qed.
Lemma positive (h : R -> R) a b v : a < b -> (forall x, 0 < h x) -> is_RInt h a b v -> 0 < v.
Proof. intros L P H. destruct (is_RInt_ge_0 h a b v) as [|Z]; try assumption; [lra | intros; left; apply P | exfalso].
  rewrite <- Z in H. set (T := {p | fst p < snd p /\ is_RInt h (fst p) (snd p) 0}).
  set (l := fun p : T => fst (proj1_sig p)). set (r := fun p : T => snd (proj1_sig p)).
  assert (N : forall k (p : T), {q : T | l p <= l q /\ r q <= r p /\ forall x, l q <= x <= r q -> h x < / INR (S k)}).
  { intros k [[c d] [C D]]. unfold l, r. simpl in *.
    assert (K : 0 < / INR (S k)) by apply Rinv_0_lt_compat, lt_0_INR, Nat.lt_0_succ.
    destruct (find _ (thin h c d _ C K D)) as [n I]. destruct (find _ I) as [i [J G]]. set (w := (d - c) / INR n) in *.
    assert (0 < w) by (apply Rdiv_lt_0_compat; [lra | apply lt_0_INR; lia]). assert (INR n * w = d - c)
      by (unfold w; field; apply not_0_INR; lia). assert (INR (S i) <= INR n) by (apply le_INR; lia).
    pose proof (pos_INR i). rewrite S_INR in *. assert (A : c + INR i * w < c + (INR i + 1) * w) by nra.
    assert (V : is_RInt h (c + INR i * w) (c + (INR i + 1) * w) 0).
    { destruct (within h c d (c + INR i * w) (c + (INR i + 1) * w) 0 P D) as [u [U E]]; [nra | nra|].
      replace u with 0 in U by lra. exact U. }
    exists (exist _ (c + INR i * w, c + (INR i + 1) * w) (conj A V)). simpl. repeat split; [nra | nra | exact G]. }
  set (s := nat_rect (fun _ => T) (exist _ (a, b) (conj L H)) (fun k p => proj1_sig (N k p))).
  assert (U : forall k j, l (s k) <= l (s (j + k)%nat) /\ r (s (j + k)%nat) <= r (s k)).
  { intros k j. induction j as [|j IH]; [simpl; lra|]. simpl. destruct (N _ (s (j + k)%nat)) as [q V]. simpl. lra. }
  assert (W : forall k j, l (s j) <= r (s k)).
  { intros k j. pose proof (U k j). pose proof (U j k). rewrite (Nat.add_comm k j) in *.
    destruct (s (j + k)%nat) as [[c d] [C D]]. unfold l, r in *. simpl in *. lra. }
  destruct (completeness (fun y => exists k, y = l (s k))) as [x [Y V]];
    [exists (r (s O)); intros y [k ->]; apply W | exists (l (s O)), O; reflexivity|].
  destruct (archimed_cor1 (h x) (P x)) as [[|k] [A B]]; [lia|]. enough (h x < / INR (S k)) by lra.
  assert (C : l (s (S k)) <= x) by (apply Y; exists (S k); reflexivity).
  assert (D : x <= r (s (S k))) by (apply V; intros y [j ->]; apply W).
  simpl in C, D. destruct (N k (s k)) as [q G]. simpl in *. apply G. split; assumption. Qed.
Lemma bell_smooth z : ex_derive bell z. Proof. unfold bell. auto_derive. exact I. Qed.
Lemma bell_even z : bell (- z) = bell z. Proof. unfold bell. f_equal. field. Qed.
Lemma bell_positive z : 0 < bell z. Proof. apply exp_pos. Qed.
Lemma mass_bounds : exists m, 0 < m /\ forall a, 1 < a -> m <= mass a <= 2 * PI.
Proof. exists (mass 1).
  split; [apply (positive bell (- (1)) 1); [lra | apply bell_positive | apply smooth, bell_smooth]|]. intros a A.
  pose proof (smooth bell (- a) a bell_smooth) as S. split.
  - destruct (within bell (- a) a (- (1)) 1 _ bell_positive S) as [w [W V]]; try lra. apply (is_RInt_unique bell) in W.
    unfold mass. rewrite W. apply V.
  - assert (D : is_RInt (fun z => 2 * / (1 + z ^ 2)) (- a) a (minus (2 * atan a) (2 * atan (- a)))).
    { apply (is_RInt_derive (fun z => 2 * atan z)); intros z _; pose proof (pow2_ge_0 z).
      - apply is_derive_scal, is_derive_Reals, derivable_pt_lim_atan.
      - by_slope. auto_derive. simpl in *. lra. }
    pose proof (atan_bound a). pose proof (atan_bound (- a)). revert D. plain. intro D.
    apply Rle_trans with (2 * atan a + - (2 * atan (- a))); [|lra].
    apply (is_RInt_le bell (fun z => 2 * / (1 + z ^ 2)) (- a) a); [lra | exact S | exact D|]. intros z _. unfold bell.
    replace (- z ^ 2 / 2) with (- (z ^ 2 / 2)) by field. rewrite exp_Ropp. pose proof (pow2_ge_0 z).
    pose proof (exp_ineq1_le (z ^ 2 / 2)). replace (2 * / (1 + z ^ 2)) with (/ ((1 + z ^ 2) / 2)) by (field; lra).
    apply Rinv_le_contravar; lra. Qed.
Lemma decay k : is_lim (fun a => a ^ k * bell a / mass a) p_infty 0.
Proof. destruct mass_bounds as [m [M B]].
  apply (is_lim_le_le_loc (fun _ => 0) (fun a => / m * exp (- a))); [|apply is_lim_const|].
  - exists (2 * (INR k + 1)). intros a A. pose proof (pos_INR k). pose proof (B a ltac:(lra)).
    assert (0 < / mass a <= / m) by (split; [apply Rinv_0_lt_compat | apply Rinv_le_contravar]; lra).
    assert (0 < a ^ k * bell a <= exp (- a)); [|unfold Rdiv; nra]. rewrite <- Rpower_pow by lra. unfold Rpower, bell.
    rewrite <- exp_plus. split; [apply exp_pos|]. pose proof (exp_ineq1_le (ln a)) as L. rewrite exp_ln in L by lra.
    left. apply exp_increasing. nra.
  - replace (Finite 0) with (Rbar_mult (/ m) 0) by (simpl; f_equal; ring). apply is_lim_scal_l.
    apply (is_lim_comp exp Ropp p_infty 0 m_infty); [apply is_lim_exp_m | | exists 0; discriminate].
    apply (is_lim_opp (fun a => a) p_infty p_infty), is_lim_id. Qed.
Lemma E_is f l : average f l -> E f = l.
Proof. intros [F [I L]]. unfold E. rewrite (is_lub_Rbar_unique _ (Finite l)); [reflexivity|].
  split; [|intros b B; apply B; exists F; split; assumption]. intros m [G [J M]].
  apply (is_lim_ext _ (fun a => F a / mass a)) in M.
  - apply is_lim_unique in L, M. rewrite L in M. inversion M. apply Rle_refl.
  - intro a. rewrite <- (is_RInt_unique _ _ _ _ (I a)), <- (is_RInt_unique _ _ _ _ (J a)). reflexivity. Qed.
Lemma E_none f : ~ Exists f -> E f = 0.
Proof. intro N. unfold E. rewrite (is_lub_Rbar_unique _ m_infty); [reflexivity|].
  split; [intros l L; destruct N; exists l; exact L | intros; exact I]. Qed.
Lemma average_add f g l m : average f l -> average g m -> average (fun z => f z + g z) (l + m).
Proof. intros [F [I L]] [G [J M]]. exists (fun a => F a + G a). split.
  - intro a. refine (is_RInt_ext _ _ _ _ _ _ (is_RInt_plus _ _ _ _ _ _ (I a) (J a))). intros z _. plain. ring.
  - refine (is_lim_ext _ _ _ _ _ (is_lim_plus' _ _ _ _ _ L M)). intro. unfold Rdiv. ring. Qed.
Lemma average_scale c f l : average f l -> average (fun z => c * f z) (c * l).
Proof. intros [F [I L]]. exists (fun a => c * F a). split.
  - intro a. refine (is_RInt_ext _ _ _ _ _ _ (is_RInt_scal _ _ _ c _ (I a))). intros z _. plain. ring.
  - refine (is_lim_ext _ _ _ _ _ (is_lim_scal_l _ c p_infty l L)). intro. unfold Rdiv. ring. Qed.
Lemma average_reflect f l : average f l -> average (fun z => f (- z)) l.
Proof. intros [F [I L]]. exists F. split; [|exact L]. intro a. pose proof (is_RInt_swap _ _ _ _ (I a)) as H.
  rewrite <- (Ropp_involutive a) in H at 1. apply is_RInt_comp_opp, is_RInt_opp in H. rewrite opp_opp in H.
  refine (is_RInt_ext _ _ _ _ _ _ H). intros z _. rewrite opp_opp, bell_even. reflexivity. Qed.
Lemma average_const c : average (fun _ => c) c.
Proof. exists (fun a => c * mass a). destruct mass_bounds as [m [M B]]. split.
  - intro a. apply (is_RInt_scal (V := R_NormedModule)), smooth, bell_smooth.
  - apply (is_lim_ext_loc (fun _ => c)); [exists 1; intros a A; apply B in A | apply is_lim_const]. field. lra. Qed.
Lemma average_parts k : average (fun z => INR k * z ^ pred k + -1 * z ^ S k) 0.
Proof. exists (fun a => (1 - (-1) ^ k) * (a ^ k * bell a)). split.
  - intro a. replace ((1 - (-1) ^ k) * (a ^ k * bell a)) with (minus (a ^ k * bell a) ((- a) ^ k * bell (- a))).
    + apply (is_RInt_derive (fun z => z ^ k * bell z)); intros z _; [|by_slope]; unfold bell; auto_derive; try exact I.
      unfold Rdiv. simpl. field.
    + rewrite bell_even. replace (- a) with (-1 * a) by ring. rewrite Rpow_mult_distr. plain. ring.
  - replace (Finite 0) with (Rbar_mult (1 - (-1) ^ k) 0) by (simpl; f_equal; ring).
    refine (is_lim_ext _ _ _ _ _ (is_lim_scal_l _ _ _ _ (decay k))). intro. unfold Rdiv. ring. Qed.
Lemma Exists_add f g : Exists f -> Exists g -> Exists (fun z => f z + g z).
Proof. intros [l L] [m M]. exists (l + m). apply average_add; assumption. Qed.
Lemma Exists_scale c f : Exists f -> Exists (fun z => c * f z).
Proof. intros [l L]. exists (c * l). apply average_scale, L. Qed.
Lemma Exists_const c : Exists (fun _ => c). Proof. exists c. apply average_const. Qed.
Lemma Exists_power k : Exists (fun z => z ^ k).
Proof. induction k as [[|k] H] using (well_founded_induction lt_wf); [apply (Exists_const 1)|].
  replace (fun z => z ^ S k) with (fun z => INR k * z ^ pred k + -1 * (INR k * z ^ pred k + -1 * z ^ S k))
    by (extensionality z; ring). apply (Exists_add (fun z => INR k * z ^ pred k)); apply Exists_scale.
  - apply H. lia.
  - exists 0. apply average_parts. Qed.
Lemma E_add f g : Exists f -> Exists g -> E (fun z => f z + g z) = E f + E g.
Proof. intros [l L] [m M]. rewrite (E_is f l), (E_is g m) by assumption. apply E_is, average_add; assumption. Qed.
Lemma E_scale c f : E (fun z => c * f z) = c * E f.
Proof. destruct (classic (Exists f)) as [[l L]|N]; [rewrite (E_is f l L); apply E_is, average_scale, L|].
  rewrite (E_none f N), Rmult_0_r. destruct (classic (Exists (fun z => c * f z))) as [[l L]|M]; [|exact (E_none _ M)].
  destruct (Req_dec c 0) as [->|C]; [|destruct N].
  - pose proof (E_is _ _ (average_scale 0 _ _ L)) as K. rewrite Rmult_0_l in K.
    replace (fun z => 0 * f z) with (fun z => 0 * (0 * f z)) by (extensionality z; ring). exact K.
  - exists (/ c * l). replace f with (fun z => / c * (c * f z)) by (extensionality z; field; exact C).
    apply average_scale, L. Qed.
Lemma E_one : E (fun _ => 1) = 1. Proof. apply E_is, average_const. Qed.
Lemma E_reflect f : E (fun z => f (- z)) = E f.
Proof. unfold E. f_equal. apply Lub_Rbar_eqset. intro l. split; [intro H | apply average_reflect].
  replace f with (fun z => f (- - z)) by (extensionality z; f_equal; ring). exact (average_reflect _ _ H). Qed.
Lemma E_mean : E (fun z => z) = 0.
Proof. replace (fun z => z) with (fun z => -1 * (INR 0 * z ^ pred 0 + -1 * z ^ 1)) by (extensionality z; simpl; ring).
  rewrite E_scale, (E_is _ _ (average_parts 0)). ring. Qed.
Lemma E_moment k : E (fun z => z ^ S (S k)) = INR (S k) * E (fun z => z ^ k).
Proof. pose proof (E_is _ _ (average_parts (S k))) as H. simpl pred in H.
  rewrite (E_add (fun z => INR (S k) * z ^ k)), !E_scale in H; [lra | |]; apply Exists_scale, Exists_power. Qed.
Lemma E_strict f : Exists f -> (forall z, 0 < f z) -> 0 < E f.
Proof. intros [l A] P. rewrite (E_is f l A). destruct A as [F [I L]], mass_bounds as [m [M B]]. pose proof PI_RGT_0.
  assert (Q : forall z, 0 < f z * bell z) by (intro; apply Rmult_lt_0_compat; [apply P | apply bell_positive]).
  pose proof (positive _ (- (1)) 1 _ ltac:(lra) Q (I 1)) as C.
  apply Rlt_le_trans with (F 1 / (2 * PI)); [apply Rdiv_lt_0_compat; lra|].
  refine (is_lim_le_loc (fun _ => F 1 / (2 * PI)) _ p_infty (F 1 / (2 * PI)) l _ (is_lim_const _ _) L). exists 1.
  intros a A. pose proof (B a A). destruct (within _ (- a) a (- (1)) 1 _ Q (I a)) as [w [W V]]; try lra.
  replace (F 1) with w by (rewrite <- (is_RInt_unique _ _ _ _ W); apply is_RInt_unique, I).
  assert (0 < / (2 * PI) <= / mass a) by (split; [apply Rinv_0_lt_compat | apply Rinv_le_contravar]; lra). unfold Rdiv.
  nra. Qed.
Lemma E_monotone f : (forall z, 0 <= f z) -> 0 <= E f.
Proof. intro P. destruct (classic (Exists f)) as [X|N]; [|rewrite (E_none f N); apply Rle_refl].
  apply Rnot_lt_le. intro Q. pose proof (Exists_const (- E f)) as C. pose proof (E_add _ _ X C) as S.
  rewrite (E_is _ _ (average_const (- E f))) in S. enough (0 < E (fun z => f z + - E f)) by (cbv beta in S; lra).
  apply (E_strict _ (Exists_add _ _ X C)). intro z. specialize (P z). lra. Qed.
End Gaussian.
Export Gaussian.
