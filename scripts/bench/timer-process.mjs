import { spawn } from 'node:child_process'
import { Agent, request } from 'node:http'

/*
 * Asks the server and runs git, and prints the milliseconds of each. A process of its own without any
 * loader: starting a program costs time in proportion to the size of the process that starts it.
 */

const agent = new Agent({ keepAlive: true, maxSockets: 1 })
/** For many requests at once. */
const crowd = new Agent({ keepAlive: true })

/** One git program, its output read and dropped. */
function run({ folder, args, input, env }) {
  return new Promise((resolve, reject) => {
    const start = performance.now()
    const child = spawn('git', args, { cwd: folder, env, stdio: ['pipe', 'pipe', 'pipe'] })
    let said = ''
    child.stdout.resume()
    child.stderr.on('data', (chunk) => {
      said += chunk
    })
    child.on('error', reject)
    child.on('close', (code) => {
      if (code === 0) resolve({ milliseconds: performance.now() - start })
      else reject(new Error(`git ${args.join(' ')}: ${said}`))
    })
    child.stdin.end(input)
  })
}

/** One request on a kept connection, its answer read and dropped. */
function ask({ url, headers, body }, from = agent) {
  return new Promise((resolve, reject) => {
    const method = body === undefined ? 'GET' : 'POST'
    const start = performance.now()
    const asked = request(url, { agent: from, method, headers }, (response) => {
      let refusal = ''
      const good = response.statusCode < 300
      let first
      response.on('data', (chunk) => {
        first ??= performance.now() - start
        if (!good) refusal += chunk
      })
      response.on('error', reject)
      response.on('end', () => {
        if (good) resolve({ milliseconds: performance.now() - start, first })
        else reject(new Error(`${url}: ${response.statusCode} ${refusal}`))
      })
    })
    asked.on('error', reject)
    asked.end(body)
  })
}

/** Calls one right after the other, nothing else in between. */
async function inTurn(calls) {
  const times = []
  for (const call of calls) times.push(await one(call))
  return { times }
}

/** The same calls all at once; how long until the last was answered. */
async function atOnce(calls) {
  const start = performance.now()
  await Promise.all(calls.map((call) => ask(call, crowd)))
  return { milliseconds: performance.now() - start }
}

function one({ git, http, block, crowd: calls }) {
  if (block) return inTurn(block)
  if (calls) return atOnce(calls)
  return git ? run(git) : ask(http)
}

process.on('message', ({ id, ...call }) => {
  one(call).then(
    (times) => process.send({ id, ...times }),
    (error) => process.send({ id, failure: error.message }),
  )
})
process.on('disconnect', () => process.exit(0))
