// @ts-check
// The `gitstead` command: makes the clone ready where it is not, then runs the compiled command line.
import { loadCompiled } from './setup/load.mjs'
import { root, setUpOrExit } from './setup.mjs'

await setUpOrExit()

async function readInput() {
  let text = ''
  for await (const chunk of process.stdin.setEncoding('utf8')) text += chunk
  return text
}

const stopped = new AbortController()
// Once: a second signal ends the process on the spot.
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => stopped.abort())

const { runCommandLine, serve } = loadCompiled(root, 'server.cjs')
process.exitCode = await runCommandLine(process.argv.slice(2), {
  environment: process.env,
  out: process.stdout,
  err: process.stderr,
  readInput,
  signal: stopped.signal,
  /** @param {Record<string, string>} settings */
  async serve(settings) {
    Object.assign(process.env, settings)
    serve()
  },
})
