/* A queue of Linux before a line, in simulated time. Included behind the source of the queue, with its struct as QUEUE.
 *
 * Arguments: bits per second, then options as NUMBER=VALUE, and seed=VALUE. Reads "nanoseconds,flow,bytes,class" of
 * packets in the order in which they come; writes "number,dropped or sent,nanoseconds", where what is sent begins to be. */

u64 now_ns, free_at_ns, line_bps, wakes_at_ns;
struct timer_list *timer;
struct nlattr *options[64];

static u64 state = 88172645463325252u;

void fill_random(void *bytes, int count)
{
    for (u8 *each = bytes; count > 0; each++, count--) {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        *each = state >> 24;
    }
}

static void told(struct sk_buff *skb, const char *what)
{
    printf("%u,%s,%llu\n", skb->number, what, (unsigned long long)now_ns);
    free(skb);
}

void drop(struct sk_buff *skb)
{
    told(skb, "dropped");
}

static struct sk_buff *arrival(u64 *at)
{
    static unsigned number;
    unsigned long long ns;
    unsigned flow, bytes, class;
    if (scanf("%llu,%u,%u,%u", &ns, &flow, &bytes, &class) != 4)
        return NULL;
    struct sk_buff *skb = calloc(1, sizeof *skb);
    /* Flows that are numbered from one are spread over the queues. */
    const unsigned hash = flow * 2654435761u;
    *skb = (struct sk_buff){
        .len = bytes, .truesize = bytes, .flow = hash, .hash = hash, .l4_hash = true, .priority = class, .number = number++};
    *at = ns;
    return skb;
}

int main(int count, char **arguments)
{
    const u64 never = UINT64_MAX;
    line_bps = strtoull(arguments[1], NULL, 10);
    struct net_device device = {.mtu = 1500};
    struct Qdisc *queue = calloc(1, sizeof *queue + QUEUE.priv_size);
    static struct nlattr given[64];
    for (int place = 2; place < count; place++) {
        unsigned number, value;
        if (sscanf(arguments[place], "seed=%u", &value) == 1)
            state += value * 8009000004807u;
        else if (sscanf(arguments[place], "%u=%u", &number, &value) == 2 && number < 64)
            *(options[number] = &given[number]) = (struct nlattr){value};
    }
    *queue = (struct Qdisc){.ops = &QUEUE, .dev = &device};
    if (QUEUE.init(queue, given, NULL))
        return 1;
    u64 comes = 0;
    /* When the line becomes free it asks, though nothing wait: that is when a queue learns that it is empty. */
    bool asks = false;
    struct sk_buff *next = arrival(&comes);
    while (next || queue->q.qlen) {
        const u64 expires = timer && timer->armed ? timer->at * (NSEC_PER_SEC / HZ) : never;
        const u64 leaves = queue->q.qlen || asks ? max(max(free_at_ns, wakes_at_ns), now_ns) : never;
        now_ns = min(min(expires, leaves), next ? comes : never);
        if (now_ns == expires) {
            timer->armed = false;
            timer->expired(timer);
        }
        if (now_ns == leaves) {
            wakes_at_ns = 0;
            struct sk_buff *skb = queue->ops->dequeue(queue);
            asks = skb;
            if (skb) {
                free_at_ns = now_ns + (u64)skb->len * 8 * NSEC_PER_SEC / line_bps;
                told(skb, "sent");
            }
        }
        else if (next && now_ns == comes) {
            struct sk_buff *dropped = NULL;
            queue->ops->enqueue(next, queue, &dropped);
            /* Who gave a packet asks at once. */
            wakes_at_ns = 0;
            while (dropped) {
                struct sk_buff *after = dropped->next;
                drop(dropped);
                dropped = after;
            }
            next = arrival(&comes);
        }
    }
    return 0;
}
