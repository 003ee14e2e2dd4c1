//! What waits for something that is done once for all that wait together, one at a time: a bitmap's update, a flush.

#[derive(Debug, Clone)]
pub struct Batches<T> {
    waiting: Vec<T>,
    /// It is being done for these.
    under_way: Vec<T>,
}

impl<T> Default for Batches<T> {
    fn default() -> Self {
        Self {
            waiting: Vec::new(),
            under_way: Vec::new(),
        }
    }
}

impl<T> Batches<T> {
    pub fn wait(&mut self, own: T) {
        self.waiting.push(own);
    }

    /// Begins with all that wait. False while others are under way, or none waits.
    pub fn begin(&mut self) -> bool {
        if self.waiting.is_empty() || !self.under_way.is_empty() {
            return false;
        }
        std::mem::swap(&mut self.waiting, &mut self.under_way);
        true
    }

    /// It is done for these.
    pub fn end(&mut self) -> Vec<T> {
        std::mem::take(&mut self.under_way)
    }

    pub fn clear(&mut self) {
        self.waiting.clear();
        self.under_way.clear();
    }
}
