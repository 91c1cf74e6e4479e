import crypto from 'node:crypto'
import { syncBuiltinESMExports } from 'node:module'
import { afterAll, afterEach, expect, test, vi } from 'vitest'
import { listAllIntegrations } from '../../src/monitoring/integrations/queries.ts'
import { useCaller, useWorld } from '../support/world.ts'
import { metric, metrics, monitoredProject } from './alerts.ts'

const world = useWorld({}, { background: false })
const ana = useCaller(world, 'ana')

const compared = vi.spyOn(crypto, 'timingSafeEqual')
syncBuiltinESMExports()
afterEach(() => compared.mockClear())
afterAll(() => {
  compared.mockRestore()
  syncBuiltinESMExports()
})

/** The lengths of what was compared in constant time. */
const lengths = () => compared.mock.calls.map((pair) => pair.map((one) => one.byteLength))

test('what is read before a key is shown holds no example, which may have a megabyte', async () => {
  const one = await monitoredProject(world, ana, 'examples')
  const at = `${one.api}/alert_management/http_integrations/${one.integration.id}`
  const changed = await ana.put(at, { payload_example: { text: 'a long example' } })
  expect(changed.body.payload_example).toEqual({ text: 'a long example' })
  const read = await listAllIntegrations(world.ctx.db, one.id)
  expect(read).toHaveLength(1)
  expect(JSON.stringify(read)).not.toContain('example')
})

test('a key is compared by digests of one length in constant time, whatever is sent', async () => {
  const one = await monitoredProject(world, ana, 'compared')
  const { token } = one.integration
  const wrong = `${token.startsWith('0') ? '1' : '0'}${token.slice(1)}`
  const keys = [
    [token, 200],
    [wrong, 401],
    [`${token}0`, 401],
    [token.slice(0, 8), 401],
    ['x', 401],
    ['y'.repeat(4000), 401],
  ] as const
  for (const [key, status] of keys) {
    const reply = await one.send({ title: 'a' }, { Authorization: `Bearer ${key}` })
    expect([key, reply.status]).toEqual([key, status])
    expect(lengths()).toEqual([[32, 32]])
    compared.mockClear()
  }
})

test('at an address of several integrations the keys of all are compared, whichever fits', async () => {
  const one = await monitoredProject(world, ana, 'several', { type: 'prometheus' })
  const tokens = [one.integration.token]
  const path = `${one.api}/alert_management/http_integrations`
  for (const name of ['second', 'third']) {
    const made = await ana.post(path, { name, type: 'prometheus', active: true })
    tokens.push(made.body.token)
  }
  const fixed = `${world.url}/${one.path}/prometheus/alerts/notify.json`
  for (const token of [...tokens, 'wrong']) {
    const reply = await fetch(fixed, {
      method: 'POST',
      headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
      body: JSON.stringify(metrics([metric('a')])),
    })
    expect(reply.status).toBe(token === 'wrong' ? 401 : 200)
    expect(lengths()).toEqual([
      [32, 32],
      [32, 32],
      [32, 32],
    ])
    compared.mockClear()
  }
})
