import { setTimeout as sleep } from 'node:timers/promises'

// usage: honest-client.ts <url> <token>; asks every 20 ms until its input ends, then prints the milliseconds of each
// answer, and how many were no success.
const [url = '', token = ''] = process.argv.slice(2)
let running = true
process.stdin.on('end', () => {
  running = false
})
process.stdin.resume()

const paths = ['/projects/1', '/projects/1/issues', '/projects/1/repository/tree', '/user']
const waits: number[] = []
let refused = 0
for (let at = 0; running; at += 1) {
  const started = performance.now()
  try {
    const reply = await fetch(`${url}/api/v4${paths[at % paths.length]}`, {
      headers: { 'private-token': token },
      signal: AbortSignal.timeout(30_000),
    })
    await reply.arrayBuffer()
    if (!reply.ok) refused += 1
  } catch {
    refused += 1
  }
  waits.push(performance.now() - started)
  await sleep(20)
}
process.stdout.write(JSON.stringify({ waits, refused }))
