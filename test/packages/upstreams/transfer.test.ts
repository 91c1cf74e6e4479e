import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Transfers } from '../../../src/packages/upstreams/transfer.ts'
import { useWorld } from '../../support/world.ts'
import { UpstreamServer } from '../virtual-registry/upstream-server.ts'

const world = useWorld(
  { outboundAllow: ['127.0.0.1'], outboundTimeout: 500 },
  { background: false },
)
let server: UpstreamServer
beforeAll(async () => {
  server = await UpstreamServer.open()
})
afterAll(() => server.close())

test('nobody joins a transfer that was given up, however long its end takes', async () => {
  server.files.slow = {
    answer(_request, response) {
      response.writeHead(200)
      const timer = setInterval(() => response.write('more'), 50)
      response.on('close', () => clearInterval(timer))
    },
  }
  const { ctx } = world
  const slowEnd: typeof ctx.files.put = async (pieces, options) => {
    try {
      return await ctx.files.put(pieces, options)
    } finally {
      await sleep(2000)
    }
  }
  const slow = { ...ctx, files: { ...ctx.files, put: slowEnd } }
  const transfers = new Transfers<string>()
  const ask = () => ctx.outbound.request(`${server.url}/slow`)
  const save = () => Promise.resolve('stored')
  const left = AbortSignal.timeout(100)
  const first = await transfers.fetchOnce(slow, 'key', { ask, save, room: 1e9, signal: left })
  await expect.poll(() => first.transfer.body.destroyed || !transfers.isRunning('key')).toBe(true)
  server.files.slow = { body: 'the end' }
  const { transfer, isFirst } = await transfers.fetchOnce(ctx, 'key', { ask, save, room: 1e9 })
  expect(isFirst).toBe(true)
  expect(await transfer.stored).toBe('stored')
  await expect(first.transfer.stored).rejects.toThrow()
  await sleep(2100)
})
