/* What net/sched/sch_{codel,fq_codel,pie,fq_pie,cake}.c want of a kernel, for a program: one queue, one clock, no locks.
 *
 * Declarations are written for this program. What a queue never does here is nothing: netlink, classes, statistics. */

#pragma once

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Integers. */
typedef uint8_t u8, __u8;
typedef uint16_t u16, __u16, __be16;
typedef uint32_t u32, __u32, __be32;
typedef uint64_t u64, __u64;
typedef int8_t s8, __s8;
typedef int16_t s16, __s16;
typedef int32_t s32, __s32;
typedef int64_t s64, __s64, ktime_t;
#define U32_MAX UINT32_MAX
#define U64_MAX UINT64_MAX
#define BITS_PER_BYTE 8
#define SZ_32M (32 << 20)
#define EINVAL 22
#define ENOMEM 12
#define EMSGSIZE 90
#define EOPNOTSUPP 95
#define BIT(n) (1u << (n))
#define IS_ENABLED(x) 0

/* Words that compilers, modules and several processors need. */
#define __rcu
#define __init
#define __exit
#define __maybe_unused __attribute__((unused))
#define __read_mostly
#define fallthrough ((void)0)
#define likely(x) (x)
#define unlikely(x) (x)
#define READ_ONCE(x) (x)
#define WRITE_ONCE(x, value) ((x) = (value))
#define typecheck(type, x) 1
#define BUILD_BUG_ON(x)
#define EXPORT_SYMBOL_GPL(x)
#define MODULE_ALIAS_NET_SCH(x)
#define MODULE_AUTHOR(x)
#define MODULE_DESCRIPTION(x)
#define MODULE_LICENSE(x)
#define THIS_MODULE 0
#define module_init(x)
#define module_exit(x)
#define register_qdisc(x) 0
#define unregister_qdisc(x)
#define rcu_dereference_bh(x) (x)
#define rcu_read_lock()
#define rcu_read_unlock()
#define sch_tree_lock(x)
#define sch_tree_unlock(x)
#define spin_lock(x)
#define spin_unlock(x)
#define prefetch(x)
typedef int spinlock_t;

/* Arithmetic. */
#define min(a, b) ({ typeof(a) a_ = (a); typeof(b) b_ = (b); a_ < b_ ? a_ : b_; })
#define max(a, b) ({ typeof(a) a_ = (a); typeof(b) b_ = (b); a_ > b_ ? a_ : b_; })
#define min_t(type, a, b) min((type)(a), (type)(b))
#define max_t(type, a, b) max((type)(a), (type)(b))
#define clamp_t(type, x, least, most) min_t(type, max_t(type, x, least), most)
#define offsetofend(type, member) (offsetof(type, member) + sizeof(((type *)0)->member))
#define container_of(pointer, type, member) ((type *)((char *)(pointer) - offsetof(type, member)))
#define div_u64(a, b) ((u64)(a) / (b))
#define div64_u64(a, b) ((u64)(a) / (u64)(b))
#define do_div(n, base) ((n) /= (base))
#define reciprocal_scale(value, below) ((u32)(((u64)(u32)(value) * (u32)(below)) >> 32))
#define __ffs(x) __builtin_ctz(x)
#define kvcalloc(count, size, flags) calloc(count, size)
#define kvmalloc_array(count, size, flags) calloc(count, size)
#define kvfree free

/* Time, of which main says what it is: nanoseconds, ticks of 1 ms, and units of 64 ns in which sch_pie.c counts. */
#define HZ 1000
#define NSEC_PER_SEC 1000000000L
#define NSEC_PER_MSEC 1000000L
#define NSEC_PER_USEC 1000L
#define USEC_PER_SEC 1000000L
#define USEC_PER_MSEC 1000L
#define PSCHED_SHIFT 6
#define PSCHED_NS2TICKS(ns) ((ns) >> PSCHED_SHIFT)
#define PSCHED_TICKS2NS(ticks) ((s64)(ticks) << PSCHED_SHIFT)
#define PSCHED_TICKS_PER_SEC PSCHED_NS2TICKS(NSEC_PER_SEC)
typedef u64 psched_time_t;
extern u64 now_ns;
#define ktime_get_ns() now_ns
#define ktime_get() ((ktime_t)now_ns)
#define KTIME_MAX INT64_MAX
#define ktime_to_ns(t) ((s64)(t))
#define ktime_sub(a, b) ((ktime_t)(a) - (ktime_t)(b))
#define ktime_add_ns(t, ns) ((ktime_t)(t) + (s64)(ns))
#define ktime_add_ms(t, ms) ((ktime_t)(t) + (ms) * NSEC_PER_MSEC)
#define ktime_before(a, b) ((a) < (b))
#define ktime_after(a, b) ((a) > (b))
#define ktime_compare(a, b) (((a) > (b)) - ((a) < (b)))
/* When the line has sent what is on it, and what it carries: what a queue here knows of its link. */
extern u64 free_at_ns, line_bps;
#define delay_of_line(waiting) \
    ((waiting) ? PSCHED_NS2TICKS(max(free_at_ns, now_ns) - now_ns + (u64)(waiting) * 8 * NSEC_PER_SEC / line_bps) : 0)
#define psched_get_time() PSCHED_NS2TICKS(now_ns)
#define jiffies ((unsigned long)(now_ns / (NSEC_PER_SEC / HZ)))
#define usecs_to_jiffies(us) (((u64)(us) * HZ + USEC_PER_SEC - 1) / USEC_PER_SEC)
#define jiffies_to_usecs(ticks) ((ticks) * (USEC_PER_SEC / HZ))
struct timer_list {
    void (*expired)(struct timer_list *);
    unsigned long at;
    bool armed;
};
extern struct timer_list *timer;
#define timer_setup(t, function, flags) (timer = (t), timer->expired = (function))
#define mod_timer(t, ticks) ((t)->at = (ticks), (t)->armed = true)
#define from_timer(of, t, member) container_of(t, typeof(*(of)), member)
#define del_timer_sync(t)
#define timer_delete_sync(t)
/* When a queue that has packets and gave none wants to be asked again. */
extern u64 wakes_at_ns;
struct qdisc_watchdog {
    char unused;
};
#define qdisc_watchdog_init(watchdog, sch)
#define qdisc_watchdog_cancel(watchdog)
#define qdisc_watchdog_schedule_ns(watchdog, ns) (wakes_at_ns = (ns))

/* Chance. */
void fill_random(void *bytes, int count);
#define get_random_bytes(bytes, count) fill_random(bytes, count)
static inline u32 get_random_u32(void)
{
    u32 drawn;
    fill_random(&drawn, sizeof drawn);
    return drawn;
}
/* What sch_cake.c rounds quanta by, which are whole for flows that share with no other of their hosts. */
#define get_random_u16() UINT16_MAX

/* Lists. */
struct list_head {
    struct list_head *next, *prev;
};
#define INIT_LIST_HEAD(list) ((list)->next = (list)->prev = (list))
#define list_empty(list) ((list)->next == (list))
#define list_first_entry(list, type, member) container_of((list)->next, type, member)
static inline void list_add_tail(struct list_head *entry, struct list_head *list)
{
    *entry = (struct list_head){.next = list, .prev = list->prev};
    list->prev->next = entry;
    list->prev = entry;
}
static inline void list_del_init(struct list_head *entry)
{
    entry->prev->next = entry->next;
    entry->next->prev = entry->prev;
    INIT_LIST_HEAD(entry);
}
#define list_move_tail(entry, list) (list_del_init(entry), list_add_tail(entry, list))
#define list_for_each(place, list) for ((place) = (list)->next; (place) != (list); (place) = (place)->next)

/* Packets. */
struct net_device {
    unsigned mtu;
};
struct sk_buff {
    struct sk_buff *next;
    unsigned char *head, *data;
    struct net_device *dev;
    unsigned len, truesize, end, priority, mark, flow, hash, number;
    bool marked, l4_hash;
    char cb[48];
};
struct qdisc_skb_cb {
    unsigned char data[40];
    unsigned pkt_len;
};
#define qdisc_skb_cb(skb) ((struct qdisc_skb_cb *)(skb)->cb)
#define qdisc_cb_private_validate(skb, size)
static inline unsigned qdisc_pkt_len(const struct sk_buff *skb)
{
    return skb->len;
}
#define skb_get_hash(skb) ((skb)->flow)
/* Its hash says which flow a packet is of: nobody looks into it. */
struct flow_keys {
    struct {
        int addr_type, ip_proto;
        u32 ports, keyid, flow_label;
    } control, basic, ports, keyid, tags;
    struct {
        struct {
            u32 src, dst;
        } v4addrs, v6addrs;
    } addrs;
};
enum { FLOW_DISSECTOR_KEY_IPV4_ADDRS, FLOW_DISSECTOR_KEY_IPV6_ADDRS };
#define skb_flow_dissect_flow_keys(skb, keys, flags) ((void)(keys))
#define flow_hash_from_keys(keys) 0
/* None is large. */
typedef u64 netdev_features_t;
#define NETIF_F_GSO_MASK 0
#define netif_skb_features(skb) 0
#define skb_is_gso(skb) false
#define skb_gso_segment(skb, features) ((struct sk_buff *)NULL)
#define IS_ERR_OR_NULL(x) (!(x))
#define skb_list_walk_safe(first, skb, after) for ((skb) = (first), (after) = NULL; skb; (skb) = (after))
#define consume_skb(skb)
#define skb_mark_not_on_list(skb) ((skb)->next = NULL)
#define skb_get_dsfield(skb) 0
#define INET_ECN_MASK 3
#define INET_ECN_set_ce(skb) false
void drop(struct sk_buff *skb);
#define kfree_skb(skb) drop(skb)
#define rtnl_kfree_skbs(head, tail)
#define rtnl_qdisc_drop(skb, sch) ((void)(skb))

/* Queues. */
struct Qdisc;
struct gnet_dump;
struct netlink_ext_ack;
struct qdisc_walker {
    int stop, skip, count;
    int (*fn)(struct Qdisc *, unsigned long, struct qdisc_walker *);
};
struct tcf_block;
struct tcf_proto;
struct tcf_result {
    u32 classid;
};
struct tcmsg {
    u32 tcm_handle, tcm_info;
};
struct nlattr {
    u32 value;
};
struct Qdisc_class_ops {
    void *leaf, *find, *walk, *tcf_block, *bind_tcf, *unbind_tcf, *dump, *dump_stats;
};
struct Qdisc_ops {
    const struct Qdisc_class_ops *cl_ops;
    const char *id;
    int priv_size;
    int (*enqueue)(struct sk_buff *, struct Qdisc *, struct sk_buff **);
    struct sk_buff *(*dequeue)(struct Qdisc *);
    int (*init)(struct Qdisc *, struct nlattr *, struct netlink_ext_ack *);
    void *peek, *reset, *destroy, *change, *dump, *dump_stats, *owner;
};
struct Qdisc {
    const struct Qdisc_ops *ops;
    struct net_device *dev;
    u32 limit, flags, handle;
    struct {
        struct sk_buff *head, *tail;
        u32 qlen;
    } q;
    struct gnet_stats_queue {
        u32 qlen, backlog, drops, overlimits;
    } qstats;
    int gso_skb;
    u64 priv[];
};
#define qdisc_priv(sch) ((void *)(sch)->priv)
#define qdisc_dev(sch) ((sch)->dev)
#define qdisc_qlen(sch) ((sch)->q.qlen)
#define psched_mtu(dev) ((dev)->mtu + 14)
#define TCQ_F_CAN_BYPASS 4
#define NET_XMIT_SUCCESS 0
#define NET_XMIT_DROP 1
#define NET_XMIT_CN 2
#define __NET_XMIT_STOLEN 0x10000
#define __NET_XMIT_BYPASS 0x20000
#define qdisc_qstats_drop(sch) ((sch)->qstats.drops++)
#define __qdisc_qstats_drop(sch, count) ((sch)->qstats.drops += (count))
#define qdisc_qstats_backlog_inc(sch, skb) ((sch)->qstats.backlog += (skb)->len)
#define qdisc_qstats_backlog_dec(sch, skb) ((sch)->qstats.backlog -= (skb)->len)
#define qdisc_bstats_update(sch, skb)
#define qdisc_tree_reduce_backlog(sch, packets, bytes) ((void)(packets))
#define qdisc_reset_queue(sch)
#define qdisc_lock(sch) NULL
#define qdisc_root_sleeping(sch) (sch)
#define qdisc_peek_dequeued NULL
#define skb_peek(list) NULL
#define __skb_queue_head(list, skb)
static inline void __qdisc_drop(struct sk_buff *skb, struct sk_buff **dropped)
{
    skb->next = *dropped;
    *dropped = skb;
}
static inline int qdisc_drop(struct sk_buff *skb, struct Qdisc *sch, struct sk_buff **dropped)
{
    __qdisc_drop(skb, dropped);
    qdisc_qstats_drop(sch);
    return NET_XMIT_DROP;
}
static inline int qdisc_enqueue_tail(struct sk_buff *skb, struct Qdisc *sch)
{
    skb->next = NULL;
    *(sch->q.head ? &sch->q.tail->next : &sch->q.head) = skb;
    sch->q.tail = skb;
    sch->q.qlen++;
    qdisc_qstats_backlog_inc(sch, skb);
    return NET_XMIT_SUCCESS;
}
static inline struct sk_buff *__qdisc_dequeue_head(void *list)
{
    struct Qdisc *sch = container_of(list, struct Qdisc, q);
    struct sk_buff *skb = sch->q.head;
    if (skb) {
        sch->q.head = skb->next;
        sch->q.qlen--;
    }
    return skb;
}
static inline struct sk_buff *qdisc_dequeue_head(struct Qdisc *sch)
{
    struct sk_buff *skb = __qdisc_dequeue_head(&sch->q);
    if (skb)
        qdisc_qstats_backlog_dec(sch, skb);
    return skb;
}
#define qdisc_dequeue_internal(sch, direct) qdisc_dequeue_head(sch)

/* Classes, of which there are none. */
#define TC_H_MAJ(handle) ((handle) & 0xFFFF0000U)
#define TC_H_MIN(handle) ((handle) & 0x0000FFFFU)
#define tcf_block_get(block, list, sch, extack) 0
#define tcf_block_put(block)
#define tcf_classify(...) -1
#define tcf_classify_qdisc(...) -1

/* Options, by their numbers in pkt_sched.h. */
struct nla_policy {
    int type;
};
struct netlink_range_validation {
    u64 min, max;
};
enum { NLA_U8, NLA_U32, NLA_S32, NLA_U64 };
#define NLA_POLICY_FULL_RANGE(kind, range) {.type = (kind)}
#define NL_SET_ERR_MSG(extack, text)
#define NL_SET_ERR_MSG_MOD(extack, text)
#define NL_SET_ERR_MSG_ATTR(extack, option, text)
#define TCA_OPTIONS 2
extern struct nlattr *options[64];
#define nla_parse_nested(found, most, from, policy, extack) (memcpy(found, options, ((most) + 1) * sizeof *options), 0)
#define nla_parse_nested_deprecated nla_parse_nested
#define nla_get_u32(option) ((option)->value)
#define nla_get_u8(option) ((option)->value)
#define nla_get_s32(option) ((s32)(option)->value)
#define nla_get_u64(option) ((u64)(option)->value)
#define nla_nest_start(skb, type) ((struct nlattr *)skb)
#define nla_nest_start_noflag nla_nest_start
#define nla_nest_end(skb, nest) 0
#define nla_nest_cancel(skb, nest)
#define nla_put_u32(skb, type, value) ((void)(value), 0)
#define nla_put_u8(skb, type, value) ((void)(value), 0)
#define gnet_stats_copy_app(dump, stats, size) 0
#define gnet_stats_copy_queue(dump, cpu, queue, length) 0
#define tc_qdisc_stats_dump(sch, class, walker) true
