//! Sources that wait until the first stop of their path takes a packet: a host's interface, or the queue of
//! its first link, pushes back instead of dropping. They are woken in turn, in the order in which they
//! began to wait, for one packet each.

use std::collections::VecDeque;

/// A source that waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Waiting {
    /// Its flow.
    pub flow: u32,
    /// Bytes of the packet that it wants to send.
    pub size: u32,
}

/// The sources that wait at one stop.
#[derive(Clone, Debug, Default)]
pub struct Sources {
    line: VecDeque<Waiting>,
    /// The first of them has been woken; its event is pending.
    woken: bool,
    /// It is this flow's turn.
    turn: Option<u32>,
}

impl Sources {
    /// Whether a flow may send, where the stop has room: it has its turn, or nobody waits.
    #[must_use]
    pub fn may_send(&self, flow: u32) -> bool {
        self.turn == Some(flow) || self.line.is_empty()
    }

    /// A source begins to wait, unless it waits already: behind the others, or before them if it had its
    /// turn and there was no room for its packet.
    pub fn wait(&mut self, source: Waiting) {
        if self.turn.take_if(|turn| *turn == source.flow).is_some() {
            self.line.push_front(source);
        } else if self.line.iter().all(|waiting| waiting.flow != source.flow) {
            self.line.push_back(source);
        }
    }

    /// The source to be woken next, unless it has been woken already.
    #[must_use]
    pub fn next(&self) -> Option<Waiting> {
        self.line.front().copied().filter(|_| !self.woken)
    }

    /// The first source has been woken: its event is pending.
    pub fn wake(&mut self) {
        self.woken = true;
    }

    /// The event came: it is that source's turn.
    pub fn begin_turn(&mut self, flow: u32) {
        self.woken = false;
        if self.line.front().is_some_and(|source| source.flow == flow) {
            self.line.pop_front();
            self.turn = Some(flow);
        }
    }

    /// The source has sent a packet, or has none to send.
    pub fn end_turn(&mut self) {
        self.turn = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(flow: u32) -> Waiting {
        Waiting { flow, size: 1 }
    }

    #[test]
    fn sources_take_turns() {
        let mut sources = Sources::default();
        assert!(sources.may_send(1));
        sources.wait(source(1));
        assert!(!sources.may_send(2), "others wait");
        sources.wait(source(2));
        assert_eq!(sources.next(), Some(source(1)));
        sources.wake();
        assert_eq!(sources.next(), None, "it has been woken");
        sources.begin_turn(1);
        assert!(!sources.may_send(2), "it is not its turn");
        assert!(sources.may_send(1));
        sources.end_turn();
        assert!(!sources.may_send(1), "one packet");
        sources.wait(source(1));
        assert_eq!(sources.next(), Some(source(2)));
    }

    #[test]
    fn a_source_without_room_keeps_its_place() {
        let mut sources = Sources::default();
        sources.wait(source(1));
        sources.wait(source(2));
        sources.begin_turn(1);
        sources.wait(source(1));
        assert_eq!(sources.next(), Some(source(1)));
    }
}
