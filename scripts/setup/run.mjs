// @ts-check
import { spawn } from 'node:child_process'
import { closeSync, existsSync, openSync, writeSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

const STOPPING = /** @type {const} */ (['SIGINT', 'SIGTERM', 'SIGHUP'])
const PERL = '/usr/bin/perl'
const CONTAIN = fileURLToPath(new URL('../contain', import.meta.url))
/** Seconds in which what was stopped may remove what it has half written. */
const GRACE = '3'

/**
 * Runs a program with its words in the log, and gives its exit code. A stopped set-up stops it as well.
 *
 * @param {string} program
 * @param {string[]} args
 * @param {{ log: string, cwd?: string, env?: NodeJS.ProcessEnv, onLine?: (line: string) => void, dieWithUs?: boolean }} options
 * @returns {Promise<number>}
 */
export function runLogged(program, args, { log, cwd, env, onLine, dieWithUs = false }) {
  const out = openSync(log, 'a')
  writeSync(out, `\n$ ${program} ${args.join(' ')}\n`)
  const [first, rest] = dieWithUs ? tied(program, args) : [program, args]
  const child = spawn(first, rest, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'], detached: true })
  /** @param {NodeJS.Signals} signal */
  const stop = (signal) => {
    if (child.pid !== undefined) process.kill(-child.pid, signal)
    for (const each of STOPPING) process.off(each, stop)
    process.kill(process.pid, signal)
  }
  for (const signal of STOPPING) process.on(signal, stop)
  for (const stream of [child.stdout, child.stderr]) {
    createInterface({ input: stream }).on('line', (line) => {
      writeSync(out, `${line}\n`)
      onLine?.(line)
    })
  }
  return new Promise((resolve) => {
    const end = (/** @type {number} */ code) => {
      for (const signal of STOPPING) process.off(signal, stop)
      closeSync(out)
      resolve(code)
    }
    child.on('error', (error) => {
      writeSync(out, `${error.message}\n`)
      end(127)
    })
    child.on('close', (code) => end(code ?? 1))
  })
}

/**
 * Ties a program's life to ours, and that of all that it starts, so that a killed set-up leaves no compiler behind that
 * writes into the next one's build.
 *
 * @param {string} program
 * @param {string[]} args
 * @returns {[string, string[]]}
 */
function tied(program, args) {
  if (!existsSync(PERL)) return [program, args]
  const own = ['--parent', String(process.pid), '--grace', GRACE]
  return [PERL, [CONTAIN, ...own, '--', program, ...args]]
}
