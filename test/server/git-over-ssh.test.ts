import { once } from 'node:events'
import { createServer } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { gitstead } from '../support/command-line.ts'
import { freePort } from '../support/free-port.ts'
import { startServerProcess } from '../support/server-process.ts'
import { newTestFolder } from '../support/test-folder.ts'

interface Told {
  readonly enabled: boolean
  readonly port: number
  readonly host_keys: readonly { readonly type: string; readonly fingerprint_sha256: string }[]
}

async function hostKeys(url: string): Promise<Told> {
  const answer = await fetch(`${url}/api/v4/ssh_host_keys`)
  expect(answer.status).toBe(200)
  return (await answer.json()) as Told
}

test('a start says where git over SSH is answered; host keys stay, and doctor shows them', async () => {
  const data = newTestFolder()
  const port = await freePort()
  const start = () => startServerProcess(data, { GITSTEAD_SSH_PORT: String(port) })
  const first = await start()
  const told = await hostKeys(first.url)
  const said = first.said()
  expect(await first.stop()).toBe(0)
  expect(said).toContain(
    `Git over SSH listens on port ${port}: ssh://git@127.0.0.1:${port}/group/project.git\n`,
  )
  expect(told).toMatchObject({ enabled: true, port })
  expect(told.host_keys).toHaveLength(2)
  const second = await start()
  const again = await hostKeys(second.url)
  await second.stop()
  expect(again).toEqual(told)
  const { out } = await gitstead(data, ['doctor'])
  for (const { type, fingerprint_sha256 } of told.host_keys) {
    expect(out).toContain(`${type} ${fingerprint_sha256}`)
  }
  expect(out).not.toContain('PRIVATE')
}, 60_000)

test('where the port that nobody asked for is taken, the server starts without SSH and says so', async () => {
  const other = createServer()
  other.on('error', () => {}) // It is taken already.
  other.listen(2222, '127.0.0.1')
  await Promise.race([once(other, 'listening'), once(other, 'error')]).catch(() => {})
  onTestFinished(() => void other.close())
  const server = await startServerProcess(newTestFolder(), { GITSTEAD_SSH_PORT: '' })
  const told = await hostKeys(server.url)
  const said = server.said()
  expect(await server.stop()).toBe(0)
  expect(said).toContain(
    'Git over SSH is off, since 127.0.0.1:2222 is in use: set GITSTEAD_SSH_PORT',
  )
  expect(said).not.toContain('Git over SSH listens')
  expect(told).toMatchObject({ enabled: false, host_keys: [] })
}, 60_000)
