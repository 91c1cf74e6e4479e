import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/** How much the heap may grow, in per cent, before what is no longer used in it is looked for. */
const growth = 40

/**
 * Keeps the memory of this process near to what it really uses: V8 would let a heap of seventy megabytes grow to three
 * hundred before it looks through it. Here it looks sooner; less than 40 per cent costs processor time.
 */
export function keepHeapSmall(): void {
  setFlagsFromString(`--heap-growing-percent=${growth}`)
}

/** Bytes in buffers after which those that are no longer used are looked for. */
const collectAfter = 8 * 1024 * 1024

type Collect = (options?: { readonly type: 'minor' }) => void

let collector: Collect | undefined
let passed = 0

/**
 * Looks through the heap once, a tenth of a second at the end of the start: until that has happened V8 takes no notice of
 * how much the heap may grow, and lets a young server grow by a hundred megabytes.
 */
export function collectOnce(): void {
  collect()
}

/**
 * Counts bytes that came in buffers of their own and went on, as those of a large upload do. V8 lets such buffers come
 * to 32 MB together before it looks which are still used; here it looks at the newest part of the heap after 8 MB.
 */
export function buffersPassed(bytes: number): void {
  passed += bytes
  if (passed < collectAfter) return
  passed = 0
  collectNewest()
}

/** Looks through the newest part of the heap, a millisecond or two. */
export function collectNewest(): void {
  collect({ type: 'minor' })
}

function collect(options?: Parameters<Collect>[0]): void {
  collector ??= findCollector()
  collector(options)
}

/** Node hands it out to programs that were started with a flag, and to any new context while that flag is set. */
function findCollector(): Collect {
  setFlagsFromString('--expose-gc')
  const found = runInNewContext('gc') as Collect // what the flag makes it
  setFlagsFromString('--no-expose-gc')
  return found
}
