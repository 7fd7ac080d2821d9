//! Asking for what the next events need, before they come: a large network has more links than a cache has room for.

use super::Fabric;
use crate::network::link::Link;
use crate::prefetch::prefetch;
use crate::probe::Probe;

/// Links from which on that pays: with their packets, so many fill a second-level cache of a mebibyte.
const MANY: usize = 1000;

impl<P: Probe> Fabric<P> {
    /// Asks, one event after the other, for a link, for the packet that comes out of it, and for the link that this enters: each
    /// is read to find the next.
    #[inline]
    pub fn prefetch_coming(&self) {
        if self.links.len() < MANY {
            return;
        }
        if let Some(link) = self.coming(2) {
            prefetch(link);
        }
        if let Some(link) = self.coming(1) {
            link.prefetch_follower();
        }
        if let Some(next) = self.coming(0).and_then(|link| self.behind(link)) {
            prefetch(next);
        }
    }

    /// The link whose event comes after so many others.
    #[inline(always)]
    fn coming(&self, after: usize) -> Option<&Link> {
        self.links.get(self.queue.coming(after)?.wrapping_sub(self.first_link) as usize)
    }

    /// The link that a packet enters which comes out of another.
    #[inline(always)]
    fn behind(&self, link: &Link) -> Option<&Link> {
        let next = self.paths.at(link.follower()?.position() + 1).server()?;
        self.links.get(next as usize)
    }
}
