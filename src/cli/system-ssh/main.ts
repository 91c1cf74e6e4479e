import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { authorizedKey, serveKey } from './ask-server.ts'

// `gitstead ssh-keys` and `gitstead ssh-serve` without the rest of the command line, which takes a second to load.

const usage = 'call it as ssh-keys <user> <type> <key>, or as ssh-serve <key-id>'

function wordsGiven() {
  try {
    return parseArgs({ options: { data: { type: 'string' } }, allowPositionals: true })
  } catch {
    return { values: {}, positionals: [] }
  }
}

try {
  const { values, positionals } = wordsGiven()
  const data = resolve(values.data ?? process.env.GITSTEAD_DATA ?? './data')
  const [name, ...args] = positionals
  if (name === 'ssh-keys' && args.length === 3) {
    const [user = '', type = '', key = ''] = args
    const program = [process.execPath, fileURLToPath(import.meta.url)]
    const line = await authorizedKey(data, { user, type, data: key }, program)
    process.stdout.write(line === '' ? '' : `${line}\n`)
  } else if (name === 'ssh-serve' && /^\d+$/.test(args[0] ?? '') && args.length === 1) {
    // The client of sshd may keep its side open.
    process.exit(await serveKey(data, Number(args[0]), process.env))
  } else {
    process.stderr.write(`gitstead: ${usage} (gitstead --help)\n`)
    process.exitCode = 2
  }
} catch (error) {
  process.stderr.write(`gitstead: ${error instanceof Error ? error.message : String(error)}\n`)
  process.exitCode = 1
}
