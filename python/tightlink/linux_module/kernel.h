/* What a congestion control of Linux (net/ipv4/tcp_*.c, the interface of Linux 6.10 and later) wants of a kernel, in a
 * program: the connections of a simulation, one clock, no locks.
 *
 * Declarations are written for this program, and have what such modules use. What never happens here is nothing: other
 * sockets, several processors, tracing. */

#pragma once

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Integers. */
typedef uint8_t u8, __u8;
typedef uint16_t u16, __u16;
typedef uint32_t u32, __u32;
typedef uint64_t u64, __u64;
typedef int8_t s8, __s8;
typedef int16_t s16, __s16;
typedef int32_t s32, __s32;
typedef int64_t s64, __s64, ktime_t;
typedef unsigned int uint;
typedef unsigned long ulong;
#define U8_MAX UINT8_MAX
#define U16_MAX UINT16_MAX
#define U32_MAX UINT32_MAX
#define U64_MAX UINT64_MAX
#define S32_MAX INT32_MAX
#define S64_MAX INT64_MAX
#define U32_C(x) UINT32_C(x)
#define U64_C(x) UINT64_C(x)
#define BITS_PER_U64 64
#define BITS_PER_LONG 64
#define BIT(n) (1UL << (n))

/* Words that compilers, modules and several processors need. */
#undef __always_inline
#define __always_inline inline __attribute__((always_inline))
#define __pure __attribute__((pure))
#define __maybe_unused __attribute__((unused))
#define __bpf_kfunc
#define __bpf_kfunc_start_defs()
#define __bpf_kfunc_end_defs()
#define BTF_KFUNCS_START(name) static const void *name __maybe_unused;
#define BTF_KFUNCS_END(name)
#define BTF_ID_FLAGS(...)
struct btf_kfunc_id_set {
    void *owner;
    const void **set;
};
#define BPF_PROG_TYPE_STRUCT_OPS 0
#define register_btf_kfunc_id_set(type, set) ((void)(set), 0)
#define __init __maybe_unused
#define __exit __maybe_unused
#define __read_mostly
#define __initdata
#define fallthrough __attribute__((fallthrough))
#define likely(x) (x)
#define unlikely(x) (x)
#define READ_ONCE(x) (x)
#define WRITE_ONCE(x, value) ((x) = (value))
#define smp_load_acquire(x) (*(x))
#define cmpxchg(place, old, new) (*(place) == (old) ? (*(place) = (new), (old)) : *(place))
#define barrier()
#define BUILD_BUG_ON(wrong) _Static_assert(!(wrong), #wrong)
#define WARN_ON(x) (x)
#define WARN_ON_ONCE(x) (x)
#define WARN_ONCE(x, ...) (x)
#define EXPORT_SYMBOL_GPL(x)
#define EXPORT_SYMBOL(x)
#define MODULE_AUTHOR(x)
#define MODULE_DESCRIPTION(x)
#define MODULE_LICENSE(x)
#define MODULE_VERSION(x)
#define MODULE_ALIAS(x)
#define MODULE_INFO(tag, x)
#define THIS_MODULE NULL
#define KERN_DEBUG ""
#define pr_debug(...)
#define pr_info(...)
#define pr_err(...)
#define printk(...) 0
#define net_dbg_ratelimited(...)
#define NET_INC_STATS(...)
#define NET_ADD_STATS(...)
#define __nonstring
#define net_info_ratelimited(...)
#define static_branch_unlikely(x) 0
struct module;

/* What a module tells when it is loaded: its sim_parameters, its two ends, and its control. */
struct sim_parameter {
    const char *name;
    void *place;
    unsigned size;
    bool is_signed;
    struct sim_parameter *next;
};
static struct sim_parameter *sim_parameters;
#define module_param_named(as, variable, type, rights)                                                                 \
    static struct sim_parameter sim_parameter_##as;                                                                            \
    __attribute__((constructor)) static void sim_tell_##as(void) {                                                        \
        sim_parameter_##as = (struct sim_parameter){#as, (void *)&(variable), sizeof(variable), (typeof(variable))-1 < 0, sim_parameters}; \
        sim_parameters = &sim_parameter_##as;                                                                                  \
    }
#define module_param_cb(as, operations, place, rights) \
    static const void *const sim_operations_of_##as __maybe_unused = (operations);                                         \
    module_param_named(as, *(place), , rights)
struct kernel_param;
struct kernel_param_ops {
    int (*set)(const char *, const struct kernel_param *), (*get)(char *, const struct kernel_param *);
};
#define param_get_uint NULL
#define param_set_uint_minmax(text, of, least, most) 0
#define module_param(variable, type, rights) module_param_named(variable, variable, type, rights)
#define MODULE_PARM_DESC(variable, text)
static int (*sim_module_begins)(void);
#define module_init(function)                                                                                          \
    __attribute__((constructor)) static void sim_tell_begin(void) { sim_module_begins = (function); }
#define module_exit(function)                                                                                          \
    __attribute__((constructor)) static void sim_tell_end(void) { (void)(function); }
#define late_initcall(function) module_init(function)

/* Arithmetic. */
#define min(a, b) ({ typeof(a) a_ = (a); typeof(b) b_ = (b); a_ < b_ ? a_ : b_; })
#define max(a, b) ({ typeof(a) a_ = (a); typeof(b) b_ = (b); a_ > b_ ? a_ : b_; })
#define min3(a, b, c) min(min(a, b), c)
#define max3(a, b, c) max(max(a, b), c)
#define min_not_zero(a, b) ({ typeof(a) x_ = (a); typeof(b) y_ = (b); !x_ ? y_ : !y_ ? x_ : min(x_, y_); })
#define min_t(type, a, b) min((type)(a), (type)(b))
#define max_t(type, a, b) max((type)(a), (type)(b))
#define clamp(x, least, most) min(max(x, least), most)
#define clamp_t(type, x, least, most) min_t(type, max_t(type, x, least), most)
#define clamp_val(x, least, most) clamp_t(typeof(x), x, least, most)
#define swap(a, b) ({ typeof(a) c_ = (a); (a) = (b); (b) = c_; })
#define abs(x) ({ typeof(x) x_ = (x); x_ < 0 ? -x_ : x_; })
#define container_of(pointer, type, member) ((type *)((char *)(pointer) - offsetof(type, member)))
#define ARRAY_SIZE(row) (sizeof(row) / sizeof((row)[0]))
#define DIV_ROUND_UP(a, b) (((a) + (b) - 1) / (b))
#define DIV_ROUND_UP_ULL(a, b) DIV_ROUND_UP((u64)(a), b)
#define DIV_ROUND_CLOSEST(a, b) (((a) + (b) / 2) / (b))
#define div_u64(a, b) ((u64)(a) / (u32)(b))
#define div64_u64(a, b) ((u64)(a) / (u64)(b))
#define div64_u64_rem(a, b, rest) (*(rest) = (u64)(a) % (u64)(b), (u64)(a) / (u64)(b))
#define div64_ul(a, b) ((u64)(a) / (unsigned long)(b))
#define div64_long(a, b) ((s64)(a) / (long)(b))
#define div_s64(a, b) ((s64)(a) / (s32)(b))
#define div64_s64(a, b) ((s64)(a) / (s64)(b))
#define mul_u64_u32_shr(a, b, bits) ((u64)(((unsigned __int128)(a) * (b)) >> (bits)))
#define do_div(n, base) ({ u32 base_ = (base); u32 rest_ = (u64)(n) % base_; (n) = (u64)(n) / base_; rest_; })
#define __fls(x) (63 - __builtin_clzl(x))
#define fls(x) ((x) ? 32 - __builtin_clz(x) : 0)
#define fls64(x) ((x) ? 64 - __builtin_clzll(x) : 0)
#define ilog2(x) (63 - __builtin_clzll(x))
#define is_power_of_2(x) (__builtin_popcountl(x) == 1)
#define hweight32(x) __builtin_popcount(x)
#define reciprocal_scale(value, below) ((u32)(((u64)(value) * (below)) >> 32))

/* The largest number whose square is not larger. */
static inline unsigned long int_sqrt(unsigned long x) {
    unsigned long root = 0;
    for (unsigned long bit = 1UL << 31; bit > 0; bit >>= 1)
        if ((root | bit) * (root | bit) <= x)
            root |= bit;
    return root;
}
#define int_sqrt64(x) int_sqrt(x)

/* Time, of which the simulation says what it is: microseconds, and ticks of 4 ms, as most distributions have them. Both
 * begin when a machine has been up for a while: modules take 0 for never. */
#define HZ 250
#define NSEC_PER_SEC 1000000000L
#define NSEC_PER_MSEC 1000000L
#define NSEC_PER_USEC 1000L
#define USEC_PER_SEC 1000000L
#define USEC_PER_MSEC 1000L
#define MSEC_PER_SEC 1000L
#define USEC_PER_JIFFY (USEC_PER_SEC / HZ)
__attribute__((weak)) u64 sim_now_us;
#define tcp_jiffies32 ((u32)(sim_now_us / USEC_PER_JIFFY))
#define jiffies ((unsigned long)tcp_jiffies32)
#define jiffies_to_usecs(ticks) ((u32)((ticks) * USEC_PER_JIFFY))
#define jiffies_to_msecs(ticks) ((u32)((ticks) * (MSEC_PER_SEC / HZ)))
#define usecs_to_jiffies(us) (((unsigned long)(us) + USEC_PER_JIFFY - 1) / USEC_PER_JIFFY)
#define msecs_to_jiffies(ms) usecs_to_jiffies((ms) * USEC_PER_MSEC)
#define time_after(a, b) ((long)((b) - (a)) < 0)
#define time_before(a, b) time_after(b, a)
#define time_after_eq(a, b) (!time_before(a, b))
#define time_before_eq(a, b) (!time_after(a, b))
#define time_after32(a, b) ((s32)((u32)(b) - (u32)(a)) < 0)
#define time_before32(a, b) time_after32(b, a)
#define local_clock() (sim_now_us * NSEC_PER_USEC)
#define ktime_get_ns() (sim_now_us * NSEC_PER_USEC)
#define ktime_get() ((ktime_t)ktime_get_ns())
#define ktime_get_real() ktime_get()
#define ktime_to_us(t) ((t) / NSEC_PER_USEC)
#define ktime_to_ns(t) (t)
#define ktime_sub(a, b) ((a) - (b))

/* Chance, which the scenario's seed begins: Vigna's SplitMix64. */
__attribute__((weak)) u64 sim_chance;
static inline u64 get_random_u64(void) {
    u64 z = sim_chance += 0x9E3779B97F4A7C15;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
    return z ^ (z >> 31);
}
#define get_random_u32() ((u32)get_random_u64())
#define get_random_u16() ((u16)get_random_u64())
#define get_random_u8() ((u8)get_random_u64())
#define get_random_u32_below(most) reciprocal_scale(get_random_u32(), most)
#define prandom_u32() get_random_u32()
#define prandom_u32_max(most) get_random_u32_below(most)
#define get_random_bytes(place, size) ({ u64 drawn_ = get_random_u64(); memcpy(place, &drawn_, min_t(size_t, size, 8)); })

/* Memory: a module keeps little of it beside its connections. */
typedef unsigned gfp_t;
#define GFP_NOWAIT 0
#define GFP_KERNEL 0
#define GFP_ATOMIC 0
#define __GFP_NOWARN 0
#define kcalloc(count, size, flags) calloc(count, size)
#define kzalloc(size, flags) calloc(1, size)
#define kmalloc(size, flags) malloc(size)
#define kfree(place) free(place)

/* The smallest or largest value of a span of time: its best, and the best of what came after each, three in all. */
struct minmax_sample {
    u32 t, v;
};
struct minmax {
    struct minmax_sample s[3];
};
static inline u32 minmax_get(const struct minmax *m) { return m->s[0].v; }
static inline u32 minmax_reset(struct minmax *m, u32 t, u32 value) {
    m->s[0] = m->s[1] = m->s[2] = (struct minmax_sample){t, value};
    return value;
}
static inline u32 minmax_running(struct minmax *m, u32 span, u32 t, u32 value, bool largest) {
    struct minmax_sample now = {t, value};
#define BEATS(other) (largest ? value >= (other).v : value <= (other).v)
    if (BEATS(m->s[0]) || t - m->s[2].t > span)
        return minmax_reset(m, t, value);
    if (BEATS(m->s[1]))
        m->s[1] = m->s[2] = now;
    else if (BEATS(m->s[2]))
        m->s[2] = now;
#undef BEATS
    u32 since = t - m->s[0].t;
    if (since > span) {
        m->s[0] = m->s[1], m->s[1] = m->s[2], m->s[2] = now;
        if (t - m->s[0].t > span)
            m->s[0] = m->s[1], m->s[1] = m->s[2], m->s[2] = now;
    } else if (m->s[1].t == m->s[0].t && since > span / 4) {
        m->s[1] = m->s[2] = now;
    } else if (m->s[2].t == m->s[1].t && since > span / 2) {
        m->s[2] = now;
    }
    return m->s[0].v;
}
#define minmax_running_max(m, span, t, value) minmax_running(m, span, t, value, true)
#define minmax_running_min(m, span, t, value) minmax_running(m, span, t, value, false)

/* A connection. */
#define ICSK_CA_PRIV_SIZE (13 * sizeof(u64))
#define TCP_INFINITE_SSTHRESH 0x7fffffff
#define TCP_INIT_CWND 10
#define TCPCB_DELIVERED_CE_MASK ((1U << 20) - 1)
#define TCP_ECN_OK 1
#define TCP_ECN_QUEUE_CWR 2
#define TCP_ECN_DEMAND_CWR 4
#define TCP_ECN_SEEN 8
#define ICSK_ACK_TIMER 2
#define ICSK_ACK_NOW 16
enum { TCP_ESTABLISHED = 1, TCP_CLOSE = 7, TCP_LISTEN = 10 };
enum tcp_ca_state { TCP_CA_Open, TCP_CA_Disorder, TCP_CA_CWR, TCP_CA_Recovery, TCP_CA_Loss };
enum { TCPF_CA_Open = 1, TCPF_CA_Disorder = 2, TCPF_CA_CWR = 4, TCPF_CA_Recovery = 8, TCPF_CA_Loss = 16 };
#define GSO_LEGACY_MAX_SIZE 65536U
#define MAX_TCP_HEADER 320
#define TCP_PLB_SCALE 8
enum sk_pacing { SK_PACING_NONE, SK_PACING_NEEDED, SK_PACING_FQ };
enum { INET_DIAG_VEGASINFO = 3, INET_DIAG_DCTCPINFO = 9, INET_DIAG_BBRINFO = 16 };

struct tcp_congestion_ops;
struct sock {
    unsigned long sk_pacing_rate, sk_max_pacing_rate;
    int sk_state;
    u32 sk_pacing_status, sk_gso_max_size;
    u8 sk_pacing_shift;
};
struct inet_connection_sock {
    struct sock sk;
    const struct tcp_congestion_ops *icsk_ca_ops;
    u8 icsk_ca_state, icsk_retransmits;
    struct {
        u8 pending, quick, pingpong;
    } icsk_ack;
    u64 icsk_ca_priv[ICSK_CA_PRIV_SIZE / sizeof(u64)];
};
/* Which path it takes: there is one. */
struct tcp_plb_state {
    u8 consec_cong_rounds;
};
struct tcp_sock {
    struct inet_connection_sock inet_conn;
    u32 snd_cwnd, snd_ssthresh, snd_cwnd_cnt, snd_cwnd_clamp, snd_cwnd_used, prior_cwnd, prior_ssthresh;
    u32 snd_una, snd_nxt, snd_wnd, rcv_nxt, write_seq, mss_cache, advmss, high_seq;
    u32 packets_out, sacked_out, lost_out, retrans_out, max_packets_out;
    u32 delivered, delivered_ce, lost, app_limited;
    u32 srtt_us, mdev_us, lsndtime;
    u64 tcp_mstamp, delivered_mstamp, first_tx_mstamp, tcp_clock_cache, tcp_wstamp_ns;
    struct minmax rtt_min;
    u8 ecn_flags, is_cwnd_limited, tlp_retrans;
};

#define tcp_sk(socket) ((struct tcp_sock *)(socket))
#define inet_csk(socket) ((struct inet_connection_sock *)(socket))
#define inet_csk_ca(socket) ((void *)inet_csk(socket)->icsk_ca_priv)
#define before(a, b) ((s32)((u32)(a) - (u32)(b)) < 0)
#define after(a, b) before(b, a)
#define between(x, first, last) ((u32)(last) - (u32)(first) >= (u32)(x) - (u32)(first))
#define tcp_snd_cwnd(tp) ((tp)->snd_cwnd)
#define tcp_snd_cwnd_set(tp, packets) ((tp)->snd_cwnd = (packets))
#define tcp_in_slow_start(tp) ((tp)->snd_cwnd < (tp)->snd_ssthresh)
#define tcp_in_initial_slowstart(tp) ((tp)->snd_ssthresh >= TCP_INFINITE_SSTHRESH)
#define tcp_packets_in_flight(tp) ((tp)->packets_out)
#define tcp_left_out(tp) 0U
#define tcp_is_cwnd_limited(socket) ((bool)tcp_sk(socket)->is_cwnd_limited)
#define tcp_min_rtt(tp) minmax_get(&(tp)->rtt_min)
#define tcp_stamp_us_delta(later, earlier) ((u32)max_t(s64, (s64)((later) - (earlier)), 0))
#define tcp_in_cwnd_reduction(socket)                                                                                  \
    (inet_csk(socket)->icsk_ca_state == TCP_CA_CWR || inet_csk(socket)->icsk_ca_state == TCP_CA_Recovery)
#define tcp_mss_to_mtu(socket, mss) ((mss) + 40)
#define tcp_call_bpf(...) 0
#define __tcp_send_ack(...)
#define INET_ECN_xmit(socket)
#define INET_ECN_dontxmit(socket)
#define tcp_enter_quickack_mode(...)
#define tcp_plb_init(socket, state)
#define tcp_plb_update_state(socket, state, congested) ((void)(congested))
#define tcp_plb_check_rehash(socket, state)
#define tcp_plb_update_state_upon_rto(socket, state)

/* What a control is, and what it is told. */
enum tcp_ca_event {
    CA_EVENT_TX_START, CA_EVENT_CWND_RESTART, CA_EVENT_COMPLETE_CWR, CA_EVENT_LOSS, CA_EVENT_ECN_NO_CE, CA_EVENT_ECN_IS_CE
};
enum tcp_ca_ack_event_flags { CA_ACK_SLOWPATH = 1, CA_ACK_WIN_UPDATE = 2, CA_ACK_ECE = 4 };
#define TCP_CA_NAME_MAX 16
#define TCP_CONG_NON_RESTRICTED 1
#define TCP_CONG_NEEDS_ECN 2
struct ack_sample {
    u32 pkts_acked;
    s32 rtt_us;
    u32 in_flight;
};
struct rate_sample {
    u64 prior_mstamp;
    u32 prior_delivered, prior_delivered_ce;
    s32 delivered, delivered_ce;
    long interval_us;
    u32 snd_interval_us, rcv_interval_us;
    long rtt_us;
    int losses;
    u32 acked_sacked, prior_in_flight, last_end_seq;
    bool is_app_limited, is_retrans, is_ack_delayed;
};
struct tcpvegas_info {
    u32 tcpv_enabled, tcpv_rttcnt, tcpv_rtt, tcpv_minrtt;
};
struct tcp_dctcp_info {
    u16 dctcp_enabled, dctcp_ce_state;
    u32 dctcp_alpha, dctcp_ab_ecn, dctcp_ab_tot;
};
struct tcp_bbr_info {
    u32 bbr_bw_lo, bbr_bw_hi, bbr_min_rtt, bbr_pacing_gain, bbr_cwnd_gain;
};
union tcp_cc_info {
    struct tcpvegas_info vegas;
    struct tcp_dctcp_info dctcp;
    struct tcp_bbr_info bbr;
};
struct tcp_congestion_ops {
    u32 (*ssthresh)(struct sock *);
    void (*cong_avoid)(struct sock *, u32 ack, u32 acked);
    void (*set_state)(struct sock *, u8 state);
    void (*cwnd_event)(struct sock *, enum tcp_ca_event);
    void (*in_ack_event)(struct sock *, u32 flags);
    void (*pkts_acked)(struct sock *, const struct ack_sample *);
    u32 (*min_tso_segs)(struct sock *);
    void (*cong_control)(struct sock *, u32 ack, int flag, const struct rate_sample *);
    u32 (*undo_cwnd)(struct sock *);
    u32 (*sndbuf_expand)(struct sock *);
    size_t (*get_info)(struct sock *, u32 extension, int *kind, union tcp_cc_info *);
    void (*init)(struct sock *);
    void (*release)(struct sock *);
    char name[TCP_CA_NAME_MAX];
    struct module *owner;
    u32 key, flags;
};
static struct tcp_congestion_ops *sim_registered;
static inline int tcp_register_congestion_control(struct tcp_congestion_ops *control) {
    sim_registered = control;
    return 0;
}
#define tcp_unregister_congestion_control(control) ((void)(control))

/* Growth as in RFC 5681, in whole packets, of which modules make use. */
static inline u32 tcp_slow_start(struct tcp_sock *tp, u32 acked) {
    u32 room = tp->snd_ssthresh - tp->snd_cwnd, used = min(acked, room);
    tp->snd_cwnd = min(tp->snd_cwnd + used, tp->snd_cwnd_clamp);
    return acked - used;
}
static inline void tcp_cong_avoid_ai(struct tcp_sock *tp, u32 w, u32 acked) {
    if (tp->snd_cwnd_cnt >= w) {
        tp->snd_cwnd_cnt = 0;
        tp->snd_cwnd++;
    }
    tp->snd_cwnd_cnt += acked;
    tp->snd_cwnd += tp->snd_cwnd_cnt / w;
    tp->snd_cwnd_cnt %= w;
    tp->snd_cwnd = min(tp->snd_cwnd, tp->snd_cwnd_clamp);
}
static inline void tcp_reno_cong_avoid(struct sock *sk, u32 ack, u32 acked) {
    struct tcp_sock *tp = tcp_sk(sk);
    if (!tcp_is_cwnd_limited(sk))
        return;
    if (tcp_in_slow_start(tp))
        acked = tcp_slow_start(tp, acked);
    if (acked)
        tcp_cong_avoid_ai(tp, tp->snd_cwnd, acked);
}
static inline u32 tcp_current_ssthresh(const struct sock *sk) {
    const struct tcp_sock *tp = tcp_sk(sk);
    u32 most = tp->snd_cwnd / 2 + tp->snd_cwnd / 4;
    return tcp_in_cwnd_reduction(sk) ? tp->snd_ssthresh : max(tp->snd_ssthresh, most);
}
static inline u32 tcp_reno_ssthresh(struct sock *sk) { return max(tcp_sk(sk)->snd_cwnd / 2, 2U); }
static inline u32 tcp_reno_undo_cwnd(struct sock *sk) { return max(tcp_sk(sk)->snd_cwnd, tcp_sk(sk)->prior_cwnd); }
