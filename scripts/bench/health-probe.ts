import { setTimeout as sleep } from 'node:timers/promises'

// usage: health-probe.ts <url>; asks every 20 ms until its input ends, then prints the milliseconds
// of each answer. A process of its own: whoever starts a hundred clients can't time answers.
const url = process.argv[2] ?? ''
let running = true
process.stdin.on('end', () => {
  running = false
})
process.stdin.resume()

const waits: number[] = []
while (running) {
  const start = performance.now()
  const response = await fetch(`${url}/-/health`)
  await response.text()
  waits.push(performance.now() - start)
  await sleep(20)
}
process.stdout.write(JSON.stringify(waits))
