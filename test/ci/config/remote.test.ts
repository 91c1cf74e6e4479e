import { expect, test, vi } from 'vitest'
import type { Outbound, OutboundRequest } from '../../../src/base/outbound/outbound.ts'
import { OutboundError } from '../../../src/base/outbound/outbound-guard.ts'
import { lintAlone } from '../../../src/ci/lint/lint-alone.ts'
import { useWorld } from '../../support/world.ts'

const world = useWorld()

test('servers that answer slowly hold up nobody for longer than half a minute together', async () => {
  let now = 0
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => now)
  const slow: Outbound = {
    ...world.ctx.outbound,
    async request(_url, { timeoutMs = 0 }: OutboundRequest = {}) {
      const takes = 9000
      now += Math.min(takes, timeoutMs)
      if (takes > timeoutMs) throw new OutboundError('timeout', 'too slow')
      return { status: 200, read: async () => Buffer.from('x: {script: make}') } as never // all that is looked at
    },
  }
  try {
    const content = `include: [${Array.from({ length: 20 }, (_, at) => `"https://a.example/${at}"`)}]`
    const input = { content, includeMerged: false, includeJobs: false }
    const found = await lintAlone({ ...world.ctx, outbound: slow }, input)
    expect(found.errors).toEqual([
      'Remote file `https://a.example/3` could not be fetched: too slow',
    ])
    expect(now).toBe(30_000)
  } finally {
    clock.mockRestore()
  }
})
