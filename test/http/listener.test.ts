import { once } from 'node:events'
import { createServer } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { request } from 'undici'
import { afterEach, expect, test } from 'vitest'
import { silentLog } from '../../src/base/log.ts'
import { limitConnections } from '../../src/http/listener/connection-limit.ts'
import { openWorld } from '../support/world.ts'

const ends: (() => unknown)[] = []
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end()
})

/** What each of so many connections is answered. */
async function answersOf(proxies: readonly string[], count: number): Promise<string[]> {
  const server = createServer((_request, response) => void response.end('served'))
  limitConnections(server, proxies, 6)
  await once(server.listen(0, '127.0.0.1'), 'listening')
  ends.push(() => server.close())
  const { port } = server.address() as AddressInfo
  const sockets: Socket[] = []
  for (let opened = 0; opened < count; opened += 1) {
    const socket = connect(port, '127.0.0.1').on('error', () => {})
    ends.push(() => socket.destroy())
    sockets.push(socket)
    await once(socket, 'connect')
  }
  return await Promise.all(
    sockets.map(async (socket) => {
      socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n')
      const [text] = await once(socket, 'data')
      return /HTTP\/1.1 (\d+)/.exec(String(text))?.[1] ?? ''
    }),
  )
}

test('one address has half of the connections, and a proxy all of them', async () => {
  expect(await answersOf([], 5)).toEqual(['200', '200', '200', '503', '503'])
  expect(await answersOf(['127.0.0.1'], 5)).toEqual(Array(5).fill('200'))
})

test.each([
  [[], 1],
  [['10.0.0.0/8'], 1],
  [['127.0.0.1'], 0],
])('X-Forwarded-For where %j is trusted is told of %i times', async (trustedProxies, times) => {
  const said: string[] = []
  const log = { ...silentLog, warn: (message: string) => void said.push(message) }
  const world = await openWorld({ trustedProxies }, { log })
  ends.push(() => world.close())
  const ask = async (headers: Record<string, string>) => {
    const { body } = await request(`${world.url}/-/health`, { headers })
    await body.dump()
  }
  await ask({})
  expect(said).toEqual([])
  for (let count = 0; count < 3; count += 1) await ask({ 'x-forwarded-for': '192.0.2.1' })
  expect(said.filter((one) => one.includes('GITSTEAD_TRUSTED_PROXIES'))).toHaveLength(times)
})
