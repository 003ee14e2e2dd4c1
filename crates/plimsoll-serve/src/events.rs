//! A stream of server-sent events: what a page lacks, whenever the run was read. WHATWG HTML, 9.2.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::BodyExt;
use http_body_util::channel::{Channel, Sender};
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::timeout;

use crate::feed::{Feed, FeedState};
use crate::live::SentUntil;
use crate::respond::Body;

/// A comment is sent after so much silence, so that proxies keep the connection.
const KEEP_ALIVE: Duration = Duration::from_secs(15);

/// The events of a run for one page. The permit is held until the stream ends.
pub(crate) fn stream(feed: Arc<Feed>, sent: SentUntil, permit: OwnedSemaphorePermit) -> Body {
    // One part at a time: a page that is slow gets fewer and longer events, and the server stores none for it.
    let (sender, body) = Channel::<Bytes, std::io::Error>::new(1);
    tokio::spawn(async move {
        // An error means that the page is gone.
        let _ = send_all(&feed, sent, sender).await;
        drop(permit);
    });
    body.boxed()
}

/// The page has gone, or was given up.
struct PageGone;

async fn send_all(
    feed: &Feed,
    mut sent: SentUntil,
    mut sender: Sender<Bytes, std::io::Error>,
) -> Result<(), PageGone> {
    let mut readings = feed.subscribe();
    send(&mut sender, "retry: 1000\n\n".to_owned()).await?;
    loop {
        let state = *readings.borrow_and_update();
        if state != FeedState::default()
            && let Some(event) = feed.event(&sent, state.ended)
        {
            let SentUntil { ordinal, run } = &event.sent;
            let text = format!("id: {ordinal}@{run}\ndata: {}\n\n", event.data);
            send(&mut sender, text).await?;
            sent = event.sent;
        }
        if state.ended {
            return Ok(());
        }
        match timeout(KEEP_ALIVE, readings.changed()).await {
            Ok(Ok(())) => {}
            Ok(Err(_)) => return Ok(()),
            Err(_) => send(&mut sender, ": still here\n\n".to_owned()).await?,
        }
    }
}

/// Waits for a page that is slow; the connection of one that takes too little is closed.
async fn send(sender: &mut Sender<Bytes, std::io::Error>, text: String) -> Result<(), PageGone> {
    sender.send_data(text.into()).await.map_err(|_| PageGone)
}
