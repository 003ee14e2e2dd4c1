//! Connections at a time. When places, descriptors or memory run short, a connection that waits for its client is closed.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::task::AbortHandle;

/// The connections that are open.
pub(crate) struct Clients {
    most: usize,
    table: Mutex<ClientTable>,
}

#[derive(Default)]
struct ClientTable {
    /// Counts openings and beginnings of waits, whose order is all that is needed of their time.
    events: u64,
    connections: HashMap<u64, OpenConnection>,
}

struct OpenConnection {
    address: ClientAddress,
    /// It has shown the token, where one is needed.
    is_admitted: bool,
    /// A request is being answered.
    is_working: bool,
    /// Bytes wait for the client to take them.
    is_stalled: bool,
    /// When it began to wait for its client: for a request, or for room for an answer.
    waits_since: u64,
    task: Option<AbortHandle>,
}

impl OpenConnection {
    fn waits(&self) -> bool {
        self.is_stalled || !self.is_working
    }
}

/// Whom a connection is attributed to: an address, or the network that one subscriber of IPv6 has (RFC 6177).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct ClientAddress(IpAddr);

impl ClientAddress {
    fn new(peer: IpAddr) -> Self {
        match peer.to_canonical() {
            IpAddr::V6(ip) => {
                let network = u128::from(ip) >> 64 << 64;
                Self(Ipv6Addr::from(network).into())
            }
            ip => Self(ip),
        }
    }
}

/// One connection; dropping it frees its place.
pub(crate) struct Client {
    clients: Arc<Clients>,
    id: u64,
}

/// While this is held, a request is being answered.
pub(crate) struct Working(Arc<Client>);

impl Clients {
    pub fn new(most: usize) -> Arc<Self> {
        Arc::new(Self {
            most,
            table: Mutex::default(),
        })
    }

    fn table(&self) -> MutexGuard<'_, ClientTable> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A place for a connection, where none is free that of another one. `None` where all others are being answered.
    pub fn open(self: &Arc<Self>, peer: IpAddr) -> Option<Arc<Client>> {
        if self.table().connections.len() >= self.most && !self.close_one() {
            return None;
        }
        let mut table = self.table();
        let id = table.next_event();
        let connection = OpenConnection {
            address: ClientAddress::new(peer),
            is_admitted: false,
            is_working: false,
            is_stalled: false,
            waits_since: id,
            task: None,
        };
        table.connections.insert(id, connection);
        let clients = Arc::clone(self);
        Some(Arc::new(Client { clients, id }))
    }

    /// Closes a connection that waits for its client, and returns whether there was one: those without the token first, then
    /// those of the address that has most, then the one that waits longest. So no address keeps others out, and where all
    /// come from one (a proxy, a forwarded port) it may have all places.
    pub fn close_one(&self) -> bool {
        let mut table = self.table();
        let Some(id) = table.first_to_close() else {
            return false;
        };
        let closed = table.connections.remove(&id);
        if let Some(task) = closed.and_then(|connection| connection.task) {
            task.abort();
        }
        true
    }
}

impl ClientTable {
    fn next_event(&mut self) -> u64 {
        self.events += 1;
        self.events
    }

    fn first_to_close(&self) -> Option<u64> {
        let waiting = self.connections.iter().filter(|(_, own)| own.waits());
        let first = waiting.min_by_key(|(_, own)| {
            let of_address = self.count(own.address);
            (
                own.is_admitted,
                std::cmp::Reverse(of_address),
                own.waits_since,
            )
        });
        first.map(|(id, _)| *id)
    }

    fn count(&self, address: ClientAddress) -> usize {
        let all = self.connections.values();
        all.filter(|own| own.address == address).count()
    }
}

impl Client {
    /// Changes what is known of it, unless it has been closed; the argument is the present event.
    fn update(&self, change: impl FnOnce(&mut OpenConnection, u64)) {
        let mut table = self.clients.table();
        let event = table.next_event();
        if let Some(connection) = table.connections.get_mut(&self.id) {
            change(connection, event);
        }
    }

    /// What ends when it is closed.
    pub fn set_task(&self, task: AbortHandle) {
        self.update(|own, _| own.task = Some(task));
    }

    pub fn admit(&self) {
        self.update(|own, _| own.is_admitted = true);
    }

    pub fn begin_work(self: &Arc<Self>) -> Working {
        self.update(|own, _| own.is_working = true);
        Working(Arc::clone(self))
    }

    pub fn set_stalled(&self, is_stalled: bool) {
        self.update(|own, event| {
            // While it waits already, it goes on waiting.
            if own.is_stalled != is_stalled && own.is_working == is_stalled {
                own.waits_since = event;
            }
            own.is_stalled = is_stalled;
        });
    }
}

impl Drop for Working {
    fn drop(&mut self) {
        self.0.update(|own, event| {
            own.is_working = false;
            if !own.is_stalled {
                own.waits_since = event;
            }
        });
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        self.clients.table().connections.remove(&self.id);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HERE: &str = "127.0.0.1";

    fn open(clients: &Arc<Clients>, peer: &str) -> Arc<Client> {
        clients.open(peer.parse().unwrap()).unwrap()
    }

    fn is_open(client: &Client) -> bool {
        client.clients.table().connections.contains_key(&client.id)
    }

    #[test]
    fn the_longest_wait_gives_way_and_work_does_not() {
        let clients = Clients::new(3);
        let [working, oldest, newest] = [(); 3].map(|()| open(&clients, HERE));
        let work = working.begin_work();
        let fourth = open(&clients, HERE);
        assert!(!is_open(&oldest) && is_open(&newest) && is_open(&working));
        drop(fourth);
        let busy: Vec<_> = [&newest, &open(&clients, HERE)]
            .map(Client::begin_work)
            .into();
        assert!(clients.open(HERE.parse().unwrap()).is_none());
        working.set_stalled(true);
        assert!(clients.open(HERE.parse().unwrap()).is_some() && !is_open(&working));
        drop((work, busy));
    }

    #[test]
    fn an_address_with_many_connections_gives_way_to_another() {
        let clients = Clients::new(4);
        let other = open(&clients, "192.0.2.7");
        // One subscriber has many addresses of IPv6.
        let many: Vec<_> = (1..=3)
            .map(|n| open(&clients, &format!("2001:db8::{n}")))
            .collect();
        let more = open(&clients, "2001:db8::ffff");
        assert!(is_open(&other) && is_open(&more) && !is_open(&many[0]));
        let third = open(&clients, "192.0.2.8");
        assert!(is_open(&other) && is_open(&third) && !is_open(&many[1]));
    }

    #[test]
    fn who_has_shown_the_token_stays() {
        let clients = Clients::new(2);
        let known = open(&clients, HERE);
        known.admit();
        let unknown = open(&clients, "192.0.2.7");
        let next = open(&clients, "192.0.2.8");
        assert!(is_open(&known) && !is_open(&unknown) && is_open(&next));
    }

    #[test]
    fn a_wait_counts_from_its_beginning() {
        let clients = Clients::new(2);
        let first = open(&clients, HERE);
        let second = open(&clients, HERE);
        drop(first.begin_work());
        let third = open(&clients, HERE);
        assert!(is_open(&first) && !is_open(&second), "its wait began anew");
        let work = third.begin_work();
        third.set_stalled(true);
        drop(work);
        drop(first.begin_work());
        let fourth = open(&clients, HERE);
        assert!(
            is_open(&first) && !is_open(&third),
            "it stalled before its answer was whole"
        );
        drop(fourth);
    }
}
