import { monitorEventLoopDelay } from 'node:perf_hooks'

/*
 * Loaded into a server that is measured (`--import`): reports how late its event loop comes, to the process that started
 * it and to nobody else. A timer of ten milliseconds runs while it is asked to watch, and not otherwise: it would keep
 * the process awake.
 */

const resolution = 10
const watch = monitorEventLoopDelay({ resolution })

process.on('message', ({ loopDelay }) => {
  if (loopDelay === 'watch') {
    watch.reset()
    watch.enable()
  } else if (loopDelay === 'report') {
    watch.disable()
    // What is measured is the time from one tick of the timer to the next.
    const late = (nanoseconds) => Math.max(0, nanoseconds / 1e6 - resolution)
    process.send({ loopDelay: { p99: late(watch.percentile(99)), most: late(watch.max) } })
  }
})
process.channel?.unref()
