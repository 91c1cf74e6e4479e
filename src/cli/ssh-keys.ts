import { fileURLToPath } from 'node:url'
import { command, UsageError } from './command.ts'
import { authorizedKey, serveKey } from './system-ssh/ask-server.ts'

/** What `scripts/gitstead` does by `system-ssh/main`, which starts faster. */
export const sshKeys = command({
  name: 'ssh-keys',
  summary: "Print the line of authorized_keys for a key, for the system's sshd",
  args: ['user', 'type', 'key'],
  options: {},
  async run({ args: [user = '', type = '', key = ''], config }) {
    const program = [
      process.execPath,
      fileURLToPath(new URL('system-ssh/main.js', import.meta.url)),
    ]
    const line = await authorizedKey(config().data, { user, type, data: key }, program)
    return { lines: line === '' ? [] : [line], data: { line } }
  },
})

export const sshServe = command({
  name: 'ssh-serve',
  summary: "Serve the holder of a key, as the system's sshd starts it",
  args: ['key-id'],
  options: {},
  async run({ args: [id = ''], config }) {
    if (!/^\d+$/.test(id)) throw new UsageError(`'${id}' is no id of a key`)
    return { lines: [], data: {}, exitCode: await serveKey(config().data, Number(id), process.env) }
  },
})
