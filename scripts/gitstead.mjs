// @ts-check
// The `gitstead` command: makes the clone ready where it is not, then runs the compiled command line.
import { getPriority, setPriority } from 'node:os'
import { createInterface } from 'node:readline'
import { Writable } from 'node:stream'
import { loadCompiled } from './setup/load.mjs'
import { root, setUpOrExit } from './setup.mjs'

await setUpOrExit({ serving: process.argv[2] === 'serve' })

async function readInput() {
  let text = ''
  for await (const chunk of process.stdin.setEncoding('utf8')) text += chunk
  return text
}

/**
 * Asks on the terminal for a secret, which is not shown; undefined without a terminal.
 *
 * @param {string} question
 * @returns {Promise<string | undefined>}
 */
async function askSecret(question) {
  const { stdin, stderr } = process
  if (!stdin.isTTY) return undefined
  const hidden = new Writable({ write: (_chunk, _encoding, done) => done() })
  const line = createInterface({ input: stdin, output: hidden, terminal: true })
  stderr.write(question)
  try {
    return await new Promise((resolve) => {
      line.once('close', () => resolve(undefined))
      line.once('SIGINT', () => process.kill(process.pid, 'SIGINT'))
      line.question('', resolve)
    })
  } finally {
    line.close()
    stderr.write('\n')
  }
}

function giveWay() {
  try {
    setPriority(getPriority() + 10)
  } catch {
    // Some systems do not let us; then it goes on as it is.
  }
}

const stopped = new AbortController()
const stop = () => stopped.abort()
const signals = ['SIGINT', 'SIGTERM']
// Once: a second signal ends the process on the spot.
for (const signal of signals) process.once(signal, stop)

// `gitstead project list | head`: what nobody reads any more is no fault of the command, which may be in the middle of a change.
for (const output of [process.stdout, process.stderr]) output.on('error', () => {})

const { runCommandLine, serve } = loadCompiled(root, 'server.cjs')
process.exitCode = await runCommandLine(process.argv.slice(2), {
  environment: process.env,
  out: process.stdout,
  err: process.stderr,
  readInput,
  askSecret,
  giveWay,
  signal: stopped.signal,
  /** @param {Record<string, string>} settings */
  async serve(settings) {
    Object.assign(process.env, settings)
    // A server that is still starting is ended by a signal; once it listens it has handlers of its own.
    for (const signal of signals) process.off(signal, stop)
    if (stopped.signal.aborted) process.exit(130)
    serve()
  },
})
