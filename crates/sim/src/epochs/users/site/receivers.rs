//! Where files go: data that comes to the receivers of a site, and the acknowledgements that they send.

use super::{ALL, Shared, Site};
use crate::epochs::users::receptions::Reception;
use crate::events::Key;
use crate::packet::{self, Address, Packet};
use crate::time::Time;
use crate::transport::network::Network as _;
use crate::transport::receiver::Receiver;
use crate::transport::signs::Signs;
use crate::transport::timer::DELAYED_ACK;

impl Site {
    /// The router passes on a data packet to a receiver: it crosses the interface.
    pub(super) fn take_data(&mut self, now: Key, packet: Packet, shared: &mut Shared<'_>) {
        let (source, transfer) = (packet.source(), packet.transfer());
        let heard_since = self.group.heard_since(now.time);
        let host = match self.receptions.get(source, transfer, heard_since) {
            Some(reception) => reception.host,
            None => self.group.host(self.index, source, transfer),
        };
        let key = self.hosts.cross(&self.group, now, packet.size(), self.sources.len() + host as usize);
        if key.time >= self.looks.end {
            return;
        }
        self.hosts.crossed += 1;
        if self.put_off == 0 && self.group.spec.tcp.delayed_ack_s.is_none() && key.time < self.next_look {
            self.receive_data(key, packet, shared);
        } else {
            self.put_off += 1;
            self.hosts.turns(shared.calendar).put_off(key, packet);
        }
    }

    /// The SYN of a transfer has come.
    pub(super) fn accept(&mut self, now: Time, source: u32, transfer: u8) {
        let group = &self.group;
        let host = group.host(self.index, source, transfer);
        let origin = group.site_of(source);
        let local = source - group.sources[origin as usize];
        let timer = group.timer_entity(source, DELAYED_ACK);
        let feedback = self.feedback[group.control(origin, local) as usize];
        let receiver = Receiver::new(&group.spec.tcp, group.connection.profile, feedback, source, timer);
        let long_lived = group.long_lived(origin, source);
        let path = group.path(origin, self.index);
        let reception = Reception { receiver, transfer, path, host, origin, long_lived, last: None, seen: now };
        self.receptions.insert(source, reception);
    }

    /// A data packet has reached its receiver.
    pub(super) fn receive_data(&mut self, now: Key, packet: Packet, shared: &mut Shared<'_>) {
        let (source, transfer) = (packet.source(), packet.transfer());
        let plain = packet.unaddressed();
        let carries_data = plain.seq() > 0 && !packet.is_bare();
        let heard_since = self.group.heard_since(now.time);
        if plain.seq() == 0 && !plain.is_bare() && self.receptions.get(source, transfer, heard_since).is_none() {
            self.accept(now.time, source, transfer);
        }
        let (group, counts) = (&*self.group, &mut self.counts);
        counts.delivered += u64::from(carries_data);
        let reception = self.receptions.get(source, transfer, heard_since);
        let (host, origin) = match &reception {
            Some(reception) => (reception.host, reception.origin),
            None => (group.host(self.index, source, transfer), group.site_of(source)),
        };
        let local = self.sources.len() + host as usize;
        let back = Address { destination: group.first_destination + origin, transfer, last: false };
        let mut outlet = self.hosts.outlet(group, local, (back, u32::MAX), shared);
        let Some(reception) = reception else {
            // All of the transfer is here; that the source does not know.
            if carries_data {
                counts.by_path[group.path(origin, self.index) as usize] += 1;
                let sent = packet.sent().seconds();
                let ack = Packet::new(packet::Kind::Ack, source, ALL, group.spec.tcp.ack_bytes, sent);
                outlet.send(ack, now);
            }
            return;
        };
        reception.seen = now.time;
        match reception.long_lived {
            Some(flow) => counts.by_long_lived[flow as usize] += u64::from(carries_data),
            None => counts.by_path[reception.path as usize] += u64::from(carries_data),
        }
        if packet.is_last() {
            reception.last = Some(plain.seq());
            reception.receiver.expect(Some(plain.seq()));
        }
        let receiver = &mut reception.receiver;
        if receiver.reads_marks() {
            receiver.send_owed(&mut outlet, now, Signs::of(&packet));
        }
        if receiver.receive(&mut outlet, now, &plain) && reception.is_complete() {
            self.receptions.remove(source);
        }
    }

    pub(super) fn delayed_ack(&mut self, source: u32, now: Key, shared: &mut Shared<'_>) {
        // Only one of a source's transfers is here; the timers of others are stale.
        let group = &*self.group;
        let Some(reception) = self.receptions.of(source) else { return };
        let local = self.sources.len() + reception.host as usize;
        let (destination, transfer) = (group.first_destination + reception.origin, reception.transfer);
        let back = Address { destination, transfer, last: false };
        let mut outlet = self.hosts.outlet(group, local, (back, u32::MAX), shared);
        if reception.receiver.timer(&mut outlet, now) && reception.is_complete() {
            self.receptions.remove(source);
        }
    }
}
