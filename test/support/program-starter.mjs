import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { text } from 'node:stream/consumers'

/*
 * Runs programs beside each other for a test process, which asks with one line of JSON for each and is answered with
 * another (run-program.ts). Ends with the test process.
 */

async function run({ program, args, cwd, env }) {
  const child = spawn(program, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] })
  const ended = new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('close', resolve)
  })
  const [stdout, stderr, code] = await Promise.all([text(child.stdout), text(child.stderr), ended])
  return { code, stdout, stderr }
}

const requests = createInterface({ input: process.stdin })
requests.on('line', async (line) => {
  const { id, ...asked } = JSON.parse(line)
  const answer = await run(asked).catch((error) => ({ failure: error.message }))
  process.stdout.write(`${JSON.stringify({ id, ...answer })}\n`)
})
requests.on('close', () => process.exit())
