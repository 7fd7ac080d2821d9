//! UDP: datagrams without feedback, in fragments where the path's MTU demands it.

use std::collections::VecDeque;

use crate::events::Key;
use crate::packet::{Kind, Packet};
use crate::random::Stream;
use crate::scenario::{Ect, UdpSpec};
use crate::time::Time;
use crate::traffic::sizes::Sizes;
use crate::traffic::video::Cut;
use crate::transport::accounting::{LIMITS, Limit};
use crate::transport::network::{Backpressure, Network};
use crate::transport::one_way::OneWay;
use crate::transport::playout::{Frames, Playout};

/// Datagrams that a receiver puts together from fragments at a time; of more, it gives the oldest up (RFC 791 §3.2 has a
/// timer instead).
const MOST_ASSEMBLED: usize = 128;

/// How one datagram is cut: all fragments but the last have `size` bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fragments {
    /// Number of fragments.
    pub count: u32,
    /// Bytes of each but the last, header included.
    pub size: u32,
    /// Bytes of the last, header included.
    pub last_size: u32,
}

impl Fragments {
    /// Cuts datagrams of `udp` for a path whose smallest MTU is `mtu` (RFC 791 §2.3: each fragment has
    /// its own IP header, and all but the last carry a multiple of eight bytes).
    #[must_use]
    pub fn new(udp: &UdpSpec, mtu: Option<u32>) -> Self {
        let whole = udp.payload_bytes + udp.header_bytes;
        let Some(mtu) = mtu.filter(|&mtu| whole > mtu) else { return Self::none(whole) };
        let header = udp.fragment_header_bytes;
        let chunk = ((mtu - header) / 8 * 8).max(8);
        let data = whole - header;
        let count = data.div_ceil(chunk);
        Self { count, size: header + chunk, last_size: header + data - (count - 1) * chunk }
    }

    /// A datagram of so many bytes, header included, in one piece.
    fn none(whole: u32) -> Self {
        Self { count: 1, size: whole, last_size: whole }
    }
}

/// What holds back a flow that sends as fast as it can: its first link, or what hands the packets to that.
#[derive(Clone, Copy, Debug)]
struct PushedBack {
    link: u32,
    since: Time,
    /// Seconds for which the link was busy throughout from packet to packet, and for which it was not.
    network_s: f64,
    sender_s: f64,
    stopped: bool,
}

impl PushedBack {
    /// A packet was taken, or the flow stops; `busy` says whether the link was from `since` on.
    fn book(&mut self, busy: bool, now: Time) {
        let spent_s = if busy { &mut self.network_s } else { &mut self.sender_s };
        *spent_s += now.since(self.since);
        self.since = now;
    }

    fn shares(mut self, busy_throughout: impl FnOnce(u32, Time) -> bool, stop: Time) -> [f64; LIMITS] {
        if !self.stopped && stop > self.since {
            self.book(busy_throughout(self.link, self.since), stop);
        }
        let mut shares = [0.0; LIMITS];
        let total = self.network_s + self.sender_s;
        if total > 0.0 {
            shares[Limit::Network as usize] = self.network_s / total;
            shares[Limit::SenderRate as usize] = self.sender_s / total;
        }
        shares
    }
}

/// Both ends of a UDP flow.
#[derive(Clone, Debug)]
pub struct DatagramFlow {
    flow: u32,
    payload_bytes: u32,
    header_bytes: u32,
    ecn: Option<Ect>,
    /// Of the next datagram.
    fragments: Fragments,
    /// Of datagrams of several sizes: the next one is drawn when the last one has left, so that a source that saturates
    /// knows how much room it needs.
    sizes: Option<Box<(Sizes, Stream)>>,
    next: u32,
    /// Fragments of the next datagram that were sent already.
    fragment: u32,
    /// Of a flow that sends as fast as it can.
    pushed_back: Option<Box<PushedBack>>,
    /// Datagrams of which fragments arrived, not all, and how many of them; in their order.
    assembling: VecDeque<(u32, u32)>,
    /// Packets offered to the first link.
    pub packets_sent: u64,
    /// Their bytes.
    pub bytes_sent: u64,
    /// Packets that arrived.
    pub packets_delivered: u64,
    /// Packets that arrived with a congestion mark. Nobody answers it.
    pub packets_marked: u64,
    /// Bytes of those that arrived.
    pub bytes_delivered: u64,
    /// Payload of the datagrams that arrived whole, in bytes.
    pub payload_delivered: u64,
    /// When the last packet arrived.
    pub arrived: Time,
    /// How long packets were on their way.
    pub one_way: OneWay,
    /// Losses in a row and jitter.
    pub playout: Playout,
    /// Of a video, its frames.
    frames: Option<Box<Frames>>,
}

impl DatagramFlow {
    /// A silent flow.
    #[must_use]
    pub fn new(flow: u32, udp: &UdpSpec, fragments: Fragments) -> Self {
        Self {
            flow,
            payload_bytes: udp.payload_bytes,
            header_bytes: udp.header_bytes,
            ecn: udp.ecn,
            fragments,
            sizes: None,
            next: 0,
            fragment: 0,
            pushed_back: None,
            assembling: VecDeque::new(),
            packets_sent: 0,
            bytes_sent: 0,
            packets_delivered: 0,
            packets_marked: 0,
            bytes_delivered: 0,
            payload_delivered: 0,
            arrived: Time::ZERO,
            one_way: OneWay::new(0.0, 0.0),
            playout: Playout::default(),
            frames: None,
        }
    }

    /// Bytes of its largest packets, header included.
    #[must_use]
    pub fn largest(&self) -> u32 {
        self.sizes.as_ref().map_or(self.fragments.size, |sizes| sizes.0.largest())
    }

    /// Its datagrams have several sizes, none of which needs fragments.
    #[must_use]
    pub fn mixed(mut self, sizes: Sizes, mut stream: Stream) -> Self {
        self.fragments = Fragments::none(sizes.draw(&mut stream));
        self.sizes = Some(Box::new((sizes, stream)));
        self
    }

    /// From `start` on, it sends as fast as it can, at first over `link`.
    #[must_use]
    pub fn saturating(mut self, start: Time, link: u32) -> Self {
        let since = start;
        self.pushed_back = Some(Box::new(PushedBack { link, since, network_s: 0.0, sender_s: 0.0, stopped: false }));
        self
    }

    /// Bytes of its smallest packets, header included; the last of a video's frame has what is left over.
    #[must_use]
    pub fn smallest(&self, video: bool) -> u32 {
        let Fragments { size, last_size, .. } = self.fragments;
        let whole = || if video { self.header_bytes + 1 } else { size.min(last_size) };
        self.sizes.as_ref().map_or_else(whole, |sizes| sizes.0.smallest())
    }

    /// Sends a datagram, all its fragments at once, and says how many bytes it has, header included.
    pub fn send<N: Network>(&mut self, network: &mut N, now: Key) -> u32 {
        let Fragments { count, size, .. } = self.fragments;
        for _ in 0..count {
            self.send_packet(network, now);
        }
        if count == 1 { size } else { self.payload_bytes + self.header_bytes }
    }

    /// Sends a part of a video's frame, or all of it, in datagrams that fit into the path's MTU.
    pub fn send_frame<N: Network>(&mut self, network: &mut N, now: Key, cut: Cut) {
        if let Some(packets) = cut.frame {
            self.frames.get_or_insert_default().begin(self.next, packets);
        }
        let mut left = cut.bytes;
        while left > 0 {
            let payload = left.min(self.payload_bytes);
            self.send_bytes(network, now, payload + self.header_bytes);
            self.next += 1;
            left -= payload;
        }
    }

    /// The frames of a video.
    #[must_use]
    pub fn frames(&self) -> Option<&Frames> {
        self.frames.as_deref()
    }

    /// Sends packets until the first stop of their way takes no more.
    pub fn saturate<N: Backpressure>(&mut self, network: &mut N, now: Key) {
        while network.takes_or_wakes(self.flow, self.next_size(), now) {
            self.send_packet(network, now);
        }
        self.account_for(network, now);
    }

    /// The application of a saturating flow stops.
    pub fn stop<N: Network>(&mut self, network: &mut N, now: Key) {
        self.account_for(network, now);
        if let Some(pushed_back) = self.pushed_back.as_deref_mut() {
            pushed_back.stopped = true;
        }
    }

    fn account_for<N: Network>(&mut self, network: &mut N, now: Key) {
        if let Some(pushed_back) = self.pushed_back.as_deref_mut().filter(|pushed_back| !pushed_back.stopped) {
            network.catch_up(pushed_back.link, now);
            let busy = network.busy_throughout(pushed_back.link, pushed_back.since, now.time);
            pushed_back.book(busy, now.time);
        }
    }

    /// Bytes of the next packet.
    fn next_size(&self) -> u32 {
        let Fragments { count, size, last_size } = self.fragments;
        if self.fragment + 1 == count { last_size } else { size }
    }

    /// Sends the next packet: a datagram or a fragment of one.
    fn send_packet<N: Network>(&mut self, network: &mut N, now: Key) {
        self.send_bytes(network, now, self.next_size());
        self.fragment += 1;
        if self.fragment == self.fragments.count {
            self.fragment = 0;
            self.next += 1;
            if let Some((sizes, stream)) = self.sizes.as_deref_mut() {
                self.fragments = Fragments::none(sizes.draw(stream));
            }
        }
    }

    fn send_bytes<N: Network>(&mut self, network: &mut N, now: Key, size: u32) {
        let packet = Packet::new(Kind::Datagram, self.flow, self.next, size, now.time.seconds());
        let packet = match self.ecn {
            None => packet,
            Some(Ect::Ect0) => packet.capable(),
            Some(Ect::Ect1) => packet.scalable(),
        };
        self.packets_sent += 1;
        self.bytes_sent += u64::from(size);
        network.send(packet, now);
    }

    /// Random numbers drawn.
    #[must_use]
    pub fn random_draws(&self) -> u64 {
        self.sizes.as_ref().map_or(0, |sizes| sizes.1.draws())
    }

    /// The shares of its time that each limit took, from the start to `stop`; `busy_throughout` says whether a link was
    /// from a time to the stop.
    #[must_use]
    pub fn limit_shares(&self, busy_throughout: impl FnOnce(u32, Time) -> bool, stop: Time) -> [f64; LIMITS] {
        match self.pushed_back.as_deref() {
            Some(pushed_back) => pushed_back.shares(busy_throughout, stop),
            None => {
                // A source without feedback sends what its application offers, and nothing holds it back.
                let mut shares = [0.0; LIMITS];
                shares[Limit::Application as usize] = 1.0;
                shares
            }
        }
    }

    /// A packet arrived. A datagram counts when its last fragment does, and again when it comes again: UDP forwards both.
    pub fn receive(&mut self, now: Key, packet: &Packet) {
        self.packets_delivered += 1;
        self.packets_marked += u64::from(packet.is_marked());
        self.bytes_delivered += u64::from(packet.size());
        self.arrived = now.time;
        let transit_s = now.time.since(packet.sent());
        self.one_way.add_datagram(packet.size(), transit_s);
        if self.frames.is_some() || self.fragments.count == 1 {
            self.payload_delivered += u64::from(packet.size() - self.header_bytes);
            let fresh = self.playout.count(packet.seq(), transit_s);
            if let Some(frames) = self.frames.as_mut().filter(|_| fresh) {
                frames.arrive(packet.seq());
            }
        } else if self.assemble(packet.seq()) {
            self.payload_delivered += u64::from(self.payload_bytes);
            self.playout.count(packet.seq(), transit_s);
        }
    }

    /// A fragment of datagram `seq` arrived: whether it was the last that was missing.
    fn assemble(&mut self, seq: u32) -> bool {
        let place = self.assembling.partition_point(|open| open.0 < seq);
        if self.assembling.get(place).is_none_or(|open| open.0 > seq) {
            self.assembling.insert(place, (seq, 0));
        }
        self.assembling[place].1 += 1;
        let complete = self.assembling[place].1 == self.fragments.count;
        if complete {
            self.assembling.remove(place);
        } else if self.assembling.len() > MOST_ASSEMBLED {
            self.assembling.pop_front();
        }
        complete
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn udp(payload: u32) -> UdpSpec {
        UdpSpec { payload_bytes: payload, header_bytes: 28, fragment_header_bytes: 20, sizes: vec![], ecn: None }
    }

    #[test]
    fn an_ethernet_frame_carries_1472_bytes() {
        assert_eq!(Fragments::new(&udp(1472), Some(1500)), Fragments { count: 1, size: 1500, last_size: 1500 });
        // 1475 bytes: 1480 of the 1483 bytes above IP in the first, 3 in the second, behind its own header.
        assert_eq!(Fragments::new(&udp(1475), Some(1500)), Fragments { count: 2, size: 1500, last_size: 23 });
    }

    proptest! {
        #[test]
        fn fragments_carry_everything(payload in 1u32..65_000, mtu in 68u32..9000) {
            let fragments = Fragments::new(&udp(payload), Some(mtu));
            prop_assert!(fragments.size <= mtu && fragments.last_size <= mtu);
            let total = (fragments.count - 1) * (fragments.size - 20) + fragments.last_size - 20;
            prop_assert_eq!(total, payload + 8);
        }
    }
}
