//! The packets of a direction: where each is, and which leaves next.

use std::collections::{HashMap, VecDeque};

use tightlink_sim::network::link::Passage;
use tightlink_sim::network::queue::FlowKey;
use tightlink_sim::network::server::Service;
use tightlink_sim::packet::{Kind, Packet};
use tightlink_sim::time::Time;

use crate::buffer::{Buffer, Place};
use crate::header::{Congestion, bleach, congestion, dscp, mark};
use crate::record::{Outcome, Record, Sink};

/// Where a packet is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Stage {
    /// In the input ring of the processor.
    Ring,
    /// In the queue of the link, which decides at departure what becomes of it.
    Waiting,
    /// On the link, from which it goes to the processor at that instant.
    Link(Time),
    /// On its way to the other port, or lost on it, until that instant.
    Due(Time),
    /// Nowhere: its place is kept for those that came before it.
    Gone,
}

/// A packet on its way.
#[derive(Debug)]
pub(super) struct Transit {
    pub(super) place: Place,
    pub(super) record: Record,
    pub(super) stage: Stage,
    /// The wire made it of another one.
    pub(super) copied: bool,
}

/// The packets of a direction, in the order in which they came.
#[derive(Debug)]
pub(super) struct Packets {
    pub(super) buffer: Buffer,
    pub(super) transits: VecDeque<Transit>,
    pub(super) most: usize,
    pub(super) header_bytes: usize,
    /// How many have left, from which the numbers of those that follow are counted.
    pub(super) gone: u64,
    /// Numbers of those in the ring, on the link to the processor, due at the other port, and lost on the wire, each in the
    /// order in which they leave.
    pub(super) ring: VecDeque<u64>,
    pub(super) on_link: VecDeque<u64>,
    pub(super) due: VecDeque<u64>,
    pub(super) lost: VecDeque<u64>,
    pub(super) lost_on_wire: u64,
    /// The processor comes after the link.
    pub(super) processor_follows: bool,
    pub(super) beyond_s: f64,
    /// The same of packets between hosts that differ.
    pub(super) between: HashMap<[u8; 32], f64>,
    /// Why a packet is lost for which the queue of the link has no room.
    pub(super) full: Outcome,
}

impl Packets {
    pub(super) fn get(&mut self, number: u64) -> Option<&mut Transit> {
        self.transits.get_mut(number.checked_sub(self.gone)? as usize)
    }

    /// The packet that the link knows by a sequence number.
    pub(super) fn number(&self, seq: u32) -> u64 {
        self.gone + u64::from(seq.wrapping_sub(self.gone as u32))
    }

    /// What the link is told of a packet.
    pub(super) fn packet(&mut self, number: u64) -> Option<(Packet, FlowKey)> {
        let header_bytes = self.header_bytes;
        let Transit { place, record, .. } = self.get(number)?;
        let (place, size, [flow, source, destination]) = (*place, record.size, record.header.numbers());
        let bytes = self.buffer.packet(place).get(header_bytes..).unwrap_or_default();
        let packet = Packet::new(Kind::Segment, 0, number as u32, size, 0.0);
        let packet = match congestion(bytes) {
            Congestion::NotCapable => packet,
            Congestion::Capable => packet.capable(),
            // CE may have been either: it goes with those that a scalable control sends (RFC 9331 §5.1).
            Congestion::Scalable | Congestion::Experienced => packet.scalable(),
        };
        Some((packet, FlowKey { flow, source, destination, dscp: dscp(bytes) }))
    }

    /// A packet entered the line: where it is then.
    pub(super) fn serve(&mut self, packet: Packet, passage: Passage, service: &Service) {
        let number = self.number(packet.seq());
        let header_bytes = self.header_bytes;
        let Some(Transit { place, record, .. }) = self.get(number) else { return };
        (record.start_s, record.departure_s) = (service.start.seconds(), service.departure.seconds());
        let place = *place;
        if passage == Passage::Lost {
            record.outcome = Outcome::Wire;
            self.line_up(number, Stage::Due(service.delivery), |packets| &mut packets.lost);
            return;
        }
        self.leave_link_at(number, service.delivery);
        // What is not capable never was, or the link clears the field.
        if (packet.is_marked() || !packet.is_capable())
            && let Some(bytes) = self.buffer.packet_mut(place).get_mut(header_bytes..)
        {
            if packet.is_marked() { mark(bytes) } else { bleach(bytes) }
        }
    }

    /// A packet comes out of the link at `delivery`, to go to the processor or to the other port.
    fn leave_link_at(&mut self, number: u64, delivery: Time) {
        if self.processor_follows {
            self.line_up(number, Stage::Link(delivery), |packets| &mut packets.on_link);
        } else {
            self.due_at(number, delivery);
        }
    }

    /// A packet has nothing before it any more but what it takes beside the link, from `at` on.
    pub(super) fn due_at(&mut self, number: u64, at: Time) {
        let due = at + self.beyond_s(number);
        self.line_up(number, Stage::Due(due), |packets| &mut packets.due);
    }

    /// How long a packet takes beside the link, in seconds.
    fn beyond_s(&self, number: u64) -> f64 {
        if self.between.is_empty() {
            return self.beyond_s;
        }
        let place = number.checked_sub(self.gone);
        let transit = place.and_then(|place| self.transits.get(place as usize));
        let own = transit.and_then(|transit| self.between.get(&transit.record.header.addresses()));
        own.copied().unwrap_or(self.beyond_s)
    }

    /// When a packet leaves where it is, if that is known.
    fn leaves(&self, number: u64) -> Option<Time> {
        match self.transits.get(number.checked_sub(self.gone)? as usize)?.stage {
            Stage::Link(at) | Stage::Due(at) => Some(at),
            _ => None,
        }
    }

    /// Puts a packet that is at `stage` among others by when they leave: most often behind them.
    fn line_up(&mut self, number: u64, stage: Stage, queue: fn(&mut Self) -> &mut VecDeque<u64>) {
        let Some(transit) = self.get(number) else { return };
        transit.stage = stage;
        let leaves = self.leaves(number);
        let mut place = queue(self).len();
        while let Some(before) = place.checked_sub(1)
            && let other = queue(self)[before]
            && self.leaves(other) > leaves
        {
            place = before;
        }
        queue(self).insert(place, number);
    }

    /// The packet that was served last comes out twice, the second time at `delivery`; not if there is no room.
    pub(super) fn duplicate(&mut self, packet: &Packet, delivery: Time) {
        if self.transits.len() >= self.most {
            return;
        }
        let number = self.number(packet.seq());
        let Some(&mut Transit { place, record, .. }) = self.get(number) else { return };
        let Some(place) = self.buffer.copy(place) else { return };
        self.transits.push_back(Transit { place, record, stage: Stage::Waiting, copied: true });
        self.leave_link_at(self.gone + self.transits.len() as u64 - 1, delivery);
    }

    /// A packet is lost at `at`.
    pub(super) fn lose(&mut self, number: u64, outcome: Outcome, at: Time, sink: &mut impl Sink) {
        if let Some(transit) = self.get(number) {
            transit.record.due_s = at.seconds();
            self.end(number, outcome, f64::NAN, sink);
        }
    }

    /// A packet has ended, forwarded at `sent_s` or not.
    pub(super) fn end(&mut self, number: u64, outcome: Outcome, sent_s: f64, sink: &mut impl Sink) {
        let Some(Transit { record, stage, .. }) = self.get(number) else { return };
        let due_s = if let Stage::Due(due) = *stage { due.seconds() } else { record.due_s };
        sink.note(Record { outcome, due_s, sent_s, ..*record });
        *stage = Stage::Gone;
        self.lost_on_wire += u64::from(outcome == Outcome::Wire);
        while let Some(Transit { place, stage: Stage::Gone, .. }) = self.transits.front() {
            self.buffer.forget(*place);
            self.transits.pop_front();
            self.gone += 1;
        }
    }
}
