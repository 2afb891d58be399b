//! Runs independent work on all threads.
//!
//! A value depends on its index alone, so that results are the same for any number of threads. Work reaches the thread pool as
//! `dyn Fn`: a call of this module compiles to about a tenth of the machine code of a parallel iterator.

use std::ops::Range;
use std::sync::{Mutex, PoisonError};

/// Blocks per thread: with fewer, threads wait for the slowest block; each has scratch memory and a list of its own.
const BLOCKS_PER_THREAD: usize = 8;

/// The number of threads.
pub(crate) fn threads() -> usize {
    rayon::current_num_threads()
}

/// The values of the indices below `count`, in order; a thread computes at least `least` of them in a row.
pub(crate) fn map<T: Send>(count: usize, least: usize, of: impl Fn(usize) -> T + Sync) -> Vec<T> {
    map_with(count, least, || (), |(), k| of(k))
}

/// As [`map`], with scratch memory that the values of a block share and that must not change them.
pub(crate) fn map_with<S, T: Send>(
    count: usize,
    least: usize,
    scratch: impl Fn() -> S + Sync,
    of: impl Fn(&mut S, usize) -> T + Sync,
) -> Vec<T> {
    in_blocks(count, least, &|block| {
        let mut scratch = scratch();
        block.map(|k| of(&mut scratch, k)).collect()
    })
}

/// The values of a list's elements, in order, computed as by [`map`].
pub(crate) fn map_each<'e, E: Sync, T: Send>(
    list: &'e [E],
    least: usize,
    of: impl Fn(&'e E) -> T + Sync,
) -> Vec<T> {
    map(list.len(), least, |k| of(&list[k]))
}

/// Changes the elements of a list, given with their indices; a thread changes at least `least` in a row.
pub(crate) fn for_each<T: Send>(list: &mut [T], least: usize, change: impl Fn(usize, &mut T) + Sync) {
    map_mut(list, least, change);
}

/// As [`for_each`], with a value for each element, in order.
pub(crate) fn map_mut<E: Send, T: Send>(
    list: &mut [E],
    least: usize,
    change: impl Fn(usize, &mut E) -> T + Sync,
) -> Vec<T> {
    let (count, size) = (list.len(), block_size(list.len(), least));
    let blocks: Vec<_> = list.chunks_mut(size).map(Mutex::new).collect();
    in_blocks(count, size, &|block| {
        let mut part = blocks[block.start / size].lock().unwrap_or_else(PoisonError::into_inner);
        part.iter_mut().zip(block).map(|(element, k)| change(k, element)).collect()
    })
}

/// Changes a list in blocks of `size` elements, given with their numbers; the last may be shorter.
pub(crate) fn for_blocks<T: Send>(list: &mut [T], size: usize, change: impl Fn(usize, &mut [T]) + Sync) {
    let mut blocks: Vec<&mut [T]> = list.chunks_mut(size).collect();
    for_each(&mut blocks, 1, |block, part| change(block, part));
}

/// The results of two calculations that run at the same time.
pub(crate) fn join<A: Send, B: Send>(
    first: impl FnOnce() -> A + Send,
    second: impl FnOnce() -> B + Send,
) -> (A, B) {
    let (mut first, mut second) = (Some(first), Some(second));
    let (mut a, mut b) = (None, None);
    run_both(&mut || a = first.take().map(|first| first()), &mut || b = second.take().map(|second| second()));
    a.zip(b).expect("both have run")
}

/// Blocks of the indices below `count`, each by its own call, in order.
fn in_blocks<T: Send>(count: usize, least: usize, of: &(dyn Fn(Range<usize>) -> Vec<T> + Sync)) -> Vec<T> {
    let size = block_size(count, least);
    if count <= size {
        return if count == 0 { Vec::new() } else { of(0..count) };
    }
    let blocks: Vec<_> = (0..count.div_ceil(size)).map(|_| Mutex::new(Vec::new())).collect();
    run(blocks.len(), &|block| {
        let values = of(block * size..count.min((block + 1) * size));
        *blocks[block].lock().unwrap_or_else(PoisonError::into_inner) = values;
    });
    let mut all = Vec::with_capacity(count);
    for block in blocks {
        all.append(&mut block.into_inner().unwrap_or_else(PoisonError::into_inner));
    }
    all
}

/// The size of blocks of at least `least` elements; all elements on a single thread.
fn block_size(count: usize, least: usize) -> usize {
    let threads = threads();
    let most = if threads == 1 { 1 } else { BLOCKS_PER_THREAD * threads };
    count.div_ceil(most).max(least).max(1)
}

fn run(blocks: usize, block: &(dyn Fn(usize) + Sync)) {
    use rayon::prelude::*;
    (0..blocks).into_par_iter().with_max_len(1).for_each(block);
}

fn run_both(first: &mut (dyn FnMut() + Send), second: &mut (dyn FnMut() + Send)) {
    rayon::join(first, second);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn on_threads<T: Send>(threads: usize, work: impl FnOnce() -> T + Send) -> T {
        rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(work)
    }

    #[test]
    fn values_are_in_order_for_any_number_of_threads() {
        for (threads, count, least) in
            [(1, 100, 1), (3, 0, 1), (3, 1, 1), (3, 100, 1), (3, 1001, 7), (3, 5, 64)]
        {
            let squares = on_threads(threads, || map(count, least, |k| k * k));
            assert_eq!(squares, (0..count).map(|k| k * k).collect::<Vec<_>>(), "{threads} {count} {least}");
        }
    }

    #[test]
    fn every_element_is_changed_once_with_its_own_index() {
        for (threads, count, least) in [(1, 100, 1), (3, 0, 1), (3, 100, 1), (3, 1001, 7)] {
            let mut list = vec![1; count];
            on_threads(threads, || for_each(&mut list, least, |k, element| *element += k));
            assert_eq!(list, (1..=count).collect::<Vec<_>>(), "{threads} {count} {least}");
        }
        for count in [0, 1, 1001] {
            let mut list = vec![1; count];
            let before = on_threads(3, || map_mut(&mut list, 1, |k, element| std::mem::replace(element, k)));
            assert_eq!((list, before), ((0..count).collect::<Vec<_>>(), vec![1; count]));
        }
        let mut list = [0; 7];
        for_blocks(&mut list, 3, |block, part| part.fill(10 * block + part.len()));
        assert_eq!(list, [3, 3, 3, 13, 13, 13, 21]);
    }

    #[test]
    fn scratch_memory_is_made_once_per_block() {
        let made = std::sync::atomic::AtomicUsize::new(0);
        let scratch = || made.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        on_threads(2, || map_with(1000, 1, scratch, |_, k| k));
        assert_eq!(made.into_inner(), 2 * BLOCKS_PER_THREAD);
    }

    #[test]
    fn both_calculations_return_and_a_panic_reaches_the_caller() {
        assert_eq!(join(|| 1, || "two"), (1, "two"));
        let panics = || on_threads(2, || map(100, 1, |k| assert!(k < 50)));
        assert!(std::panic::catch_unwind(panics).is_err());
    }
}
