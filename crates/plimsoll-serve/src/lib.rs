//! Runs in a browser: a catalog, reports, comparisons, and a run while it goes on. Reads only.
//!
//! A run that goes on is read from its file, once a second, and only while a page shows it: nothing is added to what
//! measures. [`access`] decides who is answered, [`route`] what an address means; a name is looked up among the runs that
//! [`RunSource`] lists, and never becomes a path.

mod accept;
mod access;
mod catalog;
mod client_stream;
mod clients;
mod events;
mod exposition;
mod feed;
#[cfg(feature = "fuzzing")]
pub mod fuzzing;
mod live;
mod made;
mod metrics;
mod respond;
mod route;
mod server;
mod site;
mod source;
mod token;

#[cfg(test)]
mod tests;

pub use access::needs_token;
pub use live::is_growing;
pub use server::{PageServer, ServeError, StopServer};
pub use site::ServeOptions;
pub use source::{FoundRun, RunSource};
pub use token::Token;
