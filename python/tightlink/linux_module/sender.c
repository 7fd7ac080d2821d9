/* The side of the simulation: what it tells of a connection, and what Linux makes of that before it asks the control.
 * A file begins before this one with the source of a control. */

/* What is told of an event, and what comes back of it: first the window and the threshold, in packets. */
struct sim_told {
    u32 cwnd, ssthresh;
    double pacing_rate; /* Packets per second; 0: none. */
    s64 now_us, rtt_us; /* Negative: no packet was timed. */
    u32 acked, marked, in_flight, una, nxt, in_use;
    /* Of a sample of the delivery rate. */
    u32 delivered, prior_delivered, total_delivered, newly_lost, prior_in_flight, app_limited, recovering;
    s64 interval_us;
};

struct sim_connection {
    struct tcp_sock tp;
    u64 chance;
    bool begun, samples;
};

/* A machine that has been up for ten minutes: the ticks of 4 ms begin where the simulation does. */
#define SIM_UP_US (600 * USEC_PER_SEC)

static const struct tcp_congestion_ops *sim_ops(void) { return sim_registered; }

const char *sim_begin_module(void) {
    if (sim_module_begins == NULL || sim_module_begins() != 0 || sim_registered == NULL)
        return NULL;
    return sim_registered->name;
}
int sim_needs_ecn(void) { return (sim_registered->flags & TCP_CONG_NEEDS_ECN) != 0; }
int sim_has_cong_control(void) { return sim_registered->cong_control != NULL; }
const struct sim_parameter *sim_first_parameter(void) { return sim_parameters; }

struct sim_connection *sim_open_connection(u32 mss, u64 seed) {
    struct sim_connection *c = calloc(1, sizeof *c);
    if (c == NULL)
        return NULL;
    struct tcp_sock *tp = &c->tp;
    c->chance = seed;
    tp->mss_cache = tp->advmss = mss;
    tp->snd_cwnd_clamp = ~0U;
    tp->snd_wnd = U32_MAX;
    tp->ecn_flags = TCP_ECN_OK;
    tp->inet_conn.icsk_ca_ops = sim_ops();
    struct sock *sk = &tp->inet_conn.sk;
    sk->sk_state = TCP_ESTABLISHED;
    sk->sk_max_pacing_rate = ~0UL;
    sk->sk_pacing_rate = 0;
    sk->sk_pacing_shift = 10;
    sk->sk_gso_max_size = GSO_LEGACY_MAX_SIZE;
    tp->rtt_min = (struct minmax){{{0, ~0U}, {0, ~0U}, {0, ~0U}}};
    return c;
}

void sim_close_connection(struct sim_connection *c) {
    if (c->begun && sim_ops()->release)
        sim_ops()->release((struct sock *)&c->tp);
    free(c);
}

static struct sock *sim_begin(struct sim_connection *c, const struct sim_told *t) {
    struct tcp_sock *tp = &c->tp;
    struct sock *sk = (struct sock *)tp;
    sim_now_us = (u64)(t->now_us + SIM_UP_US);
    sim_chance = c->chance;
    tp->tcp_mstamp = sim_now_us;
    tp->tcp_clock_cache = tp->tcp_wstamp_ns = sim_now_us * NSEC_PER_USEC;
    tp->snd_cwnd = t->cwnd;
    tp->snd_ssthresh = t->ssthresh;
    return sk;
}

/* A control begins once a round trip is known: that of the handshake, where there is one. */
static void sim_establish(struct sim_connection *c) {
    if (!c->begun) {
        c->begun = true;
        c->tp.lsndtime = tcp_jiffies32;
        if (sim_ops()->init)
            sim_ops()->init((struct sock *)&c->tp);
    }
}

static void sim_end(struct sim_connection *c, struct sim_told *t) {
    const struct tcp_sock *tp = &c->tp;
    t->cwnd = tp->snd_cwnd;
    t->ssthresh = tp->snd_ssthresh;
    t->pacing_rate = (double)tp->inet_conn.sk.sk_pacing_rate / tp->mss_cache;
    c->chance = sim_chance;
}

static void sim_change_state(struct sock *sk, u8 state) {
    if (sim_ops()->set_state)
        sim_ops()->set_state(sk, state);
    inet_csk(sk)->icsk_ca_state = state;
}

static void sim_tell(struct sock *sk, enum tcp_ca_event event) {
    if (sim_ops()->cwnd_event)
        sim_ops()->cwnd_event(sk, event);
}

/* RFC 6298, in eighths of a microsecond as Linux keeps it. */
static void sim_time_round_trip(struct tcp_sock *tp, s64 rtt_us) {
    if (rtt_us < 0)
        return;
    minmax_running_min(&tp->rtt_min, 300 * HZ, tcp_jiffies32, (u32)max_t(s64, rtt_us, 1));
    if (tp->srtt_us == 0)
        tp->srtt_us = (u32)rtt_us << 3;
    else
        tp->srtt_us += (s32)((s64)rtt_us - (tp->srtt_us >> 3));
}

/* What comes with each ACK of new data, whatever the state. */
static void sim_take_ack(struct sim_connection *c, struct sock *sk, const struct sim_told *t) {
    struct tcp_sock *tp = &c->tp;
    tp->snd_una = t->una * tp->mss_cache;
    tp->snd_nxt = tp->write_seq = t->nxt * tp->mss_cache;
    tp->is_cwnd_limited = t->in_use != 0;
    tp->packets_out = t->in_flight > t->acked + t->marked ? t->in_flight - t->acked - t->marked : 0;
    sim_time_round_trip(tp, t->rtt_us);
    sim_establish(c);
    u32 state = inet_csk(sk)->icsk_ca_state;
    u32 flags = CA_ACK_WIN_UPDATE | (t->marked ? CA_ACK_ECE : 0) | (state != TCP_CA_Open ? CA_ACK_SLOWPATH : 0);
    if (sim_ops()->in_ack_event)
        sim_ops()->in_ack_event(sk, flags);
    if (!c->samples) {
        tp->delivered += t->acked + t->marked;
        tp->delivered_ce += t->marked;
    }
    if (sim_ops()->pkts_acked) {
        struct ack_sample sample = {t->acked + t->marked, (s32)t->rtt_us, t->in_flight};
        sim_ops()->pkts_acked(sk, &sample);
    }
}

/* Losses are mended, or the window has come down for a mark. */
static void sim_open_again(struct sock *sk) {
    struct tcp_sock *tp = tcp_sk(sk);
    u8 state = inet_csk(sk)->icsk_ca_state;
    if (state == TCP_CA_Open || (state == TCP_CA_Loss && before(tp->snd_una, tp->high_seq)) ||
        (state == TCP_CA_CWR && !after(tp->snd_una, tp->high_seq)))
        return;
    if (state != TCP_CA_Loss)
        sim_tell(sk, CA_EVENT_COMPLETE_CWR);
    sim_change_state(sk, TCP_CA_Open);
}

/* The rate at which a connection of no special control would pace: modules look at it even where nothing is paced. */
static void sim_set_pacing_rate(struct sock *sk) {
    struct tcp_sock *tp = tcp_sk(sk);
    u64 share = tp->snd_cwnd < tp->snd_ssthresh / 2 ? 200 : 120;
    u64 rate = (u64)tp->mss_cache * (USEC_PER_SEC / 100 << 3) * share * max(tp->snd_cwnd, tp->packets_out);
    sk->sk_pacing_rate = tp->srtt_us ? rate / tp->srtt_us : 0;
}

void sim_on_handshake(struct sim_connection *c, struct sim_told *t) {
    sim_begin(c, t);
    sim_time_round_trip(&c->tp, t->rtt_us);
    sim_establish(c);
    sim_end(c, t);
}

void sim_on_ack(struct sim_connection *c, struct sim_told *t) {
    struct sock *sk = sim_begin(c, t);
    sim_take_ack(c, sk, t);
    sim_open_again(sk);
    /* A mark is answered before a window could grow. */
    if (sim_ops()->cong_avoid && t->acked > 0 && t->marked == 0 && !tcp_in_cwnd_reduction(sk))
        sim_ops()->cong_avoid(sk, c->tp.snd_una, t->acked);
    sim_set_pacing_rate(sk);
    sim_end(c, t);
}

void sim_on_recovery_ack(struct sim_connection *c, struct sim_told *t) {
    struct sock *sk = sim_begin(c, t);
    sim_take_ack(c, sk, t);
    sim_end(c, t);
}

/* The window is reduced: a threshold, then a state. */
static void sim_reduce(struct sim_connection *c, struct sim_told *t, u8 state) {
    struct sock *sk = sim_begin(c, t);
    struct tcp_sock *tp = &c->tp;
    sim_establish(c);
    tp->prior_cwnd = tp->snd_cwnd;
    tp->prior_ssthresh = tp->snd_ssthresh;
    tp->high_seq = tp->snd_nxt;
    tp->snd_ssthresh = sim_ops()->ssthresh(sk);
    tp->snd_cwnd_cnt = 0;
    if (state == TCP_CA_Loss)
        sim_tell(sk, CA_EVENT_LOSS);
    sim_change_state(sk, state);
    sim_end(c, t);
}

void sim_on_loss(struct sim_connection *c, struct sim_told *t) { sim_reduce(c, t, TCP_CA_Recovery); }
void sim_on_mark(struct sim_connection *c, struct sim_told *t) { sim_reduce(c, t, TCP_CA_CWR); }
void sim_on_timeout(struct sim_connection *c, struct sim_told *t) { sim_reduce(c, t, TCP_CA_Loss); }

void sim_on_undo(struct sim_connection *c, struct sim_told *t) {
    struct sock *sk = sim_begin(c, t);
    c->tp.snd_cwnd = max(sim_ops()->undo_cwnd(sk), t->cwnd);
    sim_change_state(sk, TCP_CA_Open);
    sim_end(c, t);
}

/* Returns whether the control itself sends too little. */
int sim_on_sample(struct sim_connection *c, struct sim_told *t) {
    struct sock *sk = sim_begin(c, t);
    struct tcp_sock *tp = &c->tp;
    c->samples = true;
    if (!c->begun)
        sim_time_round_trip(tp, t->rtt_us);
    sim_establish(c);
    if (!t->recovering)
        sim_open_again(sk);
    tp->delivered = t->total_delivered;
    tp->delivered_mstamp = sim_now_us;
    tp->lost += t->newly_lost;
    tp->app_limited = 0;
    tp->packets_out = t->in_flight;
    struct rate_sample sample = {
        .prior_mstamp = sim_now_us - t->interval_us,
        .prior_delivered = t->prior_delivered,
        .delivered = (s32)t->delivered,
        .interval_us = t->interval_us,
        .snd_interval_us = (u32)t->interval_us,
        .rcv_interval_us = (u32)t->interval_us,
        .rtt_us = t->rtt_us,
        .losses = (int)t->newly_lost,
        .acked_sacked = t->acked,
        .prior_in_flight = t->prior_in_flight,
        .is_app_limited = t->app_limited != 0,
    };
    if (t->interval_us <= 0)
        sample.delivered = -1, sample.interval_us = -1;
    sim_ops()->cong_control(sk, tp->snd_una, 0, &sample);
    sim_end(c, t);
    return tp->app_limited != 0;
}
