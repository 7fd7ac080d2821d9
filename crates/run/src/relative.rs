//! Quantities of a scenario that depend on others: queues and windows in bandwidth-delay products, and what RED takes
//! from its link. A scenario that has them is like one that is resolved, but for
//!
//! - the `limit` of a queue in BDP: `{"bdp": "3/2", "key": "link.wire.queue", "written": "1.5 BDP"}`,
//! - or as what empties it sends in a time: `{"time_s": "1/50", "key": "link.wire.queue", "written": "20 ms"}`,
//! - likewise its thresholds for marks,
//! - a window in BDP: `{"bdp": "2"}`,
//! - of RED `min`, `max`, `weight` and `adaptive.least` that are null,
//! - `transfers`, whose flows are drawn (`transfers.rs`),
//! - `routing`, which chooses the paths of flows (`routing.rs`).
//!
//! [`fill`] is the only place that knows what they are: Python asks it, and so does the laboratory in a browser.

use std::collections::BTreeMap;

use num_bigint::BigInt;
use num_rational::BigRational;
use num_traits::{ToPrimitive, Zero};
use serde_json::{Map, Value, json};
use tightlink_sim::network::routing::Router;
use tightlink_sim::scenario::{FlowSpec, Scenario, TransportSpec};

use crate::exact;
use crate::line::{FULL, Line};
use crate::red;
use crate::routing::Routing;
use crate::transfers;
use crate::wrong::Wrong;

/// Windows of which some may be in bandwidth-delay products.
const WINDOWS: [&str; 4] =
    ["window_packets", "initial_window_packets", "initial_ssthresh_packets", "max_ssthresh_packets"];

/// Where the limit of a queue stands in its table.
const LIMIT: &str = "/limit";

/// A limit of a queue, or a threshold, in bandwidth-delay products.
struct Wanted {
    /// Where it stands in the table of the queue, a JSON pointer.
    place: String,
    times: BigRational,
    key: String,
    written: String,
}

impl Wanted {
    fn wrong(&self, expected: String) -> Wrong {
        Wrong::Key { key: self.key.clone(), value: self.written.clone(), expected }
    }
}

/// Fills in every relative quantity of a scenario.
///
/// # Errors
/// A bandwidth-delay product that there is none of, or a scenario that is none.
pub fn fill(scenario: &mut Value) -> Result<(), Wrong> {
    transfers::expand(scenario)?;
    let queues = take_queues(scenario)?;
    let windows = take_windows(scenario);
    let routing = Routing::take(scenario);
    if queues.is_empty() && windows.is_empty() && routing.is_none() {
        return Ok(());
    }
    // With placeholders for what is not known yet; they do not matter to paths.
    let mut typed: Scenario = serde_json::from_value(scenario.clone())
        .map_err(|error| Wrong::Scenario(format!("resolved scenario: {error}")))?;
    if let Some(routing) = routing {
        routing.fill(scenario, &mut typed)?;
    }
    let lines = scenario["links"].as_array().into_iter().flatten().map(Line::of).collect();
    let mut paths = Paths { scenario: &typed, lines, router: Router::new(&typed) };
    for (index, wanted) in windows {
        let flow = &typed.flows[index];
        let bdp = paths.bdp_bytes(flow)?;
        let packet = exact::whole(packet_bytes(flow).into());
        for (name, times) in wanted {
            let packets = (times * &bdp / &packet).ceil().to_integer().max(BigInt::from(1));
            let packets = packets.to_f64().unwrap_or(f64::MAX);
            scenario["flows"][index]["transport"]["tcp"][name] = packets.into();
        }
    }
    for (link, place, packets) in fill_queues(&queues, &mut paths)? {
        set(&mut scenario["links"][link]["queue"], place, json!({ "packets": packets }));
    }
    Ok(())
}

fn set(queue: &mut Value, place: &str, limit: Value) {
    if let Some(there) = queue.pointer_mut(place) {
        *there = limit;
    }
}

/// The limits and thresholds of queues that are in BDP, by the index of their links; those in time and RED's are filled in.
fn take_queues(scenario: &mut Value) -> Result<BTreeMap<usize, Vec<Wanted>>, Wrong> {
    let mut found = BTreeMap::new();
    let links = scenario.get_mut("links").and_then(Value::as_array_mut);
    for (index, link) in links.into_iter().flatten().enumerate() {
        let line = Line::of(link);
        let Some(queue) = link.get_mut("queue") else { continue };
        if let Some(table) = queue.as_object_mut().filter(|table| table.get("kind").is_some_and(|kind| kind == "red")) {
            red::fill(table, line);
        }
        let mut places = Vec::new();
        relative(queue, &mut String::new(), &mut places);
        let mut in_bdp = Vec::new();
        for (wanted, in_time) in places {
            let limit = if in_time { sent_in(&wanted, line)? } else { "unlimited".into() };
            set(queue, &wanted.place, limit);
            if !in_time {
                in_bdp.push(wanted);
            }
        }
        if !in_bdp.is_empty() {
            found.insert(index, in_bdp);
        }
    }
    Ok(found)
}

/// What in the table of a queue, or in what stands there at `place`, is in BDP or, as is said of each, in time.
fn relative(value: &Value, place: &mut String, found: &mut Vec<(Wanted, bool)>) {
    let known = place.len();
    let mut inside = |name: &str, value: &Value| {
        place.push('/');
        place.push_str(name);
        relative(value, place, found);
        place.truncate(known);
    };
    match value {
        Value::Array(values) => {
            values.iter().enumerate().for_each(|(index, value)| inside(&index.to_string(), value));
        }
        Value::Object(table) => {
            let amount = |key: &str| exact::of_text(table.get(key)?.as_str()?);
            let text = |key: &str| table.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
            let (times, in_time) = (amount("bdp"), amount("time_s"));
            let is_in_time = in_time.is_some();
            match times.or(in_time) {
                Some(times) => {
                    let wanted = Wanted { place: place.clone(), times, key: text("key"), written: text("written") };
                    found.push((wanted, is_in_time));
                }
                None => table.iter().for_each(|(name, value)| inside(name, value)),
            }
        }
        _ => {}
    }
}

/// What a line sends in a time, in full packets with their framing: a queue of it delays by no more.
fn sent_in(wanted: &Wanted, line: Line) -> Result<Value, Wrong> {
    let (unit, least, count) = match line.rate_pps {
        Some(packets_per_s) => ("packets", 1, &wanted.times * exact::of_double(packets_per_s)),
        None => {
            let bytes = &wanted.times * exact::of_double(line.rate_bps) / exact::whole(8);
            ("bytes", FULL, bytes * exact::whole(FULL.into()) / exact::whole(line.frame_bytes))
        }
    };
    if count < exact::whole(least.into()) {
        return Err(wanted.wrong("at least as long as the line takes for one packet of 1500 B".into()));
    }
    let whole = count.floor().to_integer();
    let known = whole.to_u64().ok_or_else(|| wanted.wrong(format!("fewer than 2⁶⁴ {unit}, not {whole}")))?;
    Ok(json!({ unit: known }))
}

/// The windows that are in BDP, by the index of their flows.
fn take_windows(scenario: &mut Value) -> BTreeMap<usize, Vec<(&'static str, BigRational)>> {
    let mut found: BTreeMap<_, Vec<_>> = BTreeMap::new();
    let flows = scenario.get_mut("flows").and_then(Value::as_array_mut);
    for (index, flow) in flows.into_iter().flatten().enumerate() {
        let Some(tcp) = flow.pointer_mut("/transport/tcp").and_then(Value::as_object_mut) else { continue };
        for name in WINDOWS {
            if let Some(times) = tcp.get(name).and_then(Value::as_object).and_then(bdp) {
                found.entry(index).or_default().push((name, times));
                tcp.insert(name.into(), 1.0.into());
            }
        }
    }
    found
}

fn bdp(table: &Map<String, Value>) -> Option<BigRational> {
    exact::of_text(table.get("bdp")?.as_str()?)
}

/// The packets of each limit and threshold that is given in BDP, with its link and its place there.
///
/// N BDP are N × the link's rate × the longest round trip of the flows whose data or ACKs take the link, in packets
/// of the largest data packet of these flows, rounded up. ACKs count their flow's data packets, so that both
/// directions of a link get the same queue.
fn fill_queues<'a>(
    wanted: &'a BTreeMap<usize, Vec<Wanted>>,
    paths: &mut Paths<'_>,
) -> Result<Vec<(usize, &'a str, u32)>, Wrong> {
    if wanted.is_empty() {
        return Ok(Vec::new());
    }
    let mut taken: BTreeMap<usize, (BigRational, u32)> = BTreeMap::new();
    for flow in &paths.scenario.flows {
        let size = packet_bytes(flow);
        for (forward, reverse) in paths.each(flow)? {
            let links: Vec<usize> = forward
                .iter()
                .chain(&reverse)
                .map(|&link| link as usize)
                .filter(|link| wanted.contains_key(link))
                .collect();
            if links.is_empty() {
                continue;
            }
            let round_trip = paths.round_trip(&forward, &reverse);
            for link in links {
                let (longest, largest) = taken.entry(link).or_insert_with(|| (BigRational::zero(), 0));
                *longest = round_trip.clone().max(longest.clone());
                *largest = size.max(*largest);
            }
        }
    }
    let all_are_flows = paths.scenario.users.is_empty() && paths.scenario.scatter.is_empty();
    let packets = |(link, queue): (usize, &'a Wanted)| {
        let Some((longest, size)) = taken.get(&link) else {
            if all_are_flows {
                // Nothing is ever in it, and no threshold is as high as its limit.
                return Ok((link, queue.place.as_str(), u32::from(queue.place == LIMIT)));
            }
            return Err(queue.wrong("a number of packets or bytes: no flow takes this link".into()));
        };
        if longest.is_zero() {
            let why = "no flow through this link has any propagation delay";
            return Err(queue.wrong(format!("a number of packets or bytes: {why}")));
        }
        let bits = &queue.times * paths.lines[link].carries_exactly(*size) * longest;
        let count = (bits / exact::whole(8 * u64::from(*size))).ceil().to_integer();
        let known = count.to_u32().ok_or_else(|| queue.wrong(format!("fewer than 2³² packets, not {count}")));
        known.map(|count| (link, queue.place.as_str(), count))
    };
    wanted.iter().flat_map(|(&link, queues)| queues.iter().map(move |queue| (link, queue))).map(packets).collect()
}

/// The size of a full data packet, headers included; of datagrams of several sizes, the largest.
fn packet_bytes(flow: &FlowSpec) -> u32 {
    match &flow.transport {
        TransportSpec::Tcp(tcp) => tcp.payload_bytes + tcp.header_bytes,
        TransportSpec::Udp(udp) => udp.payload_bytes + udp.header_bytes,
    }
}

/// The links that a flow takes there, and back.
type Ways = (Vec<u32>, Vec<u32>);

/// The links of flows, found when they are asked for.
struct Paths<'a> {
    scenario: &'a Scenario,
    /// What empties the queues of links.
    lines: Vec<Line>,
    router: Router<'a>,
}

impl Paths<'_> {
    fn forward(&mut self, flow: &FlowSpec) -> Result<Vec<u32>, Wrong> {
        match &flow.path {
            Some(path) => Ok(path.clone()),
            None => self
                .router
                .shortest(flow.from, flow.to)
                .ok_or_else(|| Wrong::no_way(self.scenario, flow, flow.from, flow.to)),
        }
    }

    /// The ways of a flow, there and back: several where its packets are sprayed.
    fn each(&mut self, flow: &FlowSpec) -> Result<Vec<Ways>, Wrong> {
        let (forward, reverse) = (self.forward(flow)?, self.reverse(flow)?);
        let mut ways = Vec::new();
        if let Some(sprayed) = &flow.spraying {
            ways.extend(sprayed.paths.iter().map(|path| (path.links.clone(), reverse.clone())));
            ways.extend(sprayed.reverse_paths.iter().map(|path| (forward.clone(), path.links.clone())));
        }
        ways.push((forward, reverse));
        Ok(ways)
    }

    /// From the receiver to the sender; nothing where datagrams have no way back.
    fn reverse(&mut self, flow: &FlowSpec) -> Result<Vec<u32>, Wrong> {
        if let Some(path) = &flow.reverse_path {
            return Ok(path.clone());
        }
        match (self.router.shortest(flow.to, flow.from), &flow.transport) {
            (Some(path), _) => Ok(path),
            (None, TransportSpec::Udp(_)) => Ok(Vec::new()),
            (None, TransportSpec::Tcp(_)) => Err(Wrong::no_way(self.scenario, flow, flow.to, flow.from)),
        }
    }

    /// Propagation there and back, in seconds; twice the way there where nothing can return.
    fn round_trip(&self, forward: &[u32], reverse: &[u32]) -> BigRational {
        let delay = |links: &[u32]| -> BigRational {
            links.iter().map(|&link| exact::of_double(self.scenario.links[link as usize].delay_s)).sum()
        };
        let there = delay(forward);
        if reverse.is_empty() { &there + &there } else { there + delay(reverse) }
    }

    /// The smallest rate of the flow's path times its round trip.
    fn bdp_bytes(&mut self, flow: &FlowSpec) -> Result<BigRational, Wrong> {
        let (forward, reverse) = (self.forward(flow)?, self.reverse(flow)?);
        let size = packet_bytes(flow);
        let rates = forward.iter().map(|&link| self.lines[link as usize].carries_exactly(size));
        let rate = rates.min().unwrap_or_else(BigRational::zero);
        Ok(rate * self.round_trip(&forward, &reverse) / exact::whole(8))
    }
}
