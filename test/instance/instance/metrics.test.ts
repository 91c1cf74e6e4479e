import { expect, test } from 'vitest'
import { type Caller, useCaller, useWorld } from '../../support/world.ts'

const world = useWorld()
const ana = useCaller(world, 'ana')

const read = (caller: Caller, headers: Record<string, string> = {}) =>
  caller.get('/-/metrics', { host: true, headers })

test('the figures count what happens', async () => {
  await ana.get('/version')
  await ana.get('/projects/999999')
  const { status, headers, body } = await read(world.root)
  expect([status, headers.get('content-type')]).toEqual([
    200,
    'text/plain; version=0.0.4; charset=utf-8',
  ])
  expect(body).toMatch(/^gitstead_http_requests_total\{method="GET",status="200"\} [1-9]/m)
  expect(body).toMatch(/^gitstead_http_requests_total\{method="GET",status="404"\} 1$/m)
  expect(body).toMatch(/^gitstead_http_request_duration_seconds_count [1-9]/m)
  expect(body).toMatch(/^gitstead_tasks\{state="dead"\} 0$/m)
  expect(body).toMatch(/^gitstead_engine_calls_waiting\{lane="light"\} 0$/m)
  expect(body).toMatch(/^process_resident_memory_bytes \d{6,}$/m)
})

test('every line is one that Prometheus reads', async () => {
  const { body } = await read(world.root)
  const lines = String(body).trimEnd().split('\n')
  const wrong = lines.filter(
    (line) =>
      !/^# (HELP|TYPE) \w+ .+$/.test(line) &&
      !/^\w+(\{\w+="[^"]*"(,\w+="[^"]*")*\})? -?[\d.e+-]+$/.test(line),
  )
  expect(wrong).toEqual([])
})

test('programs on this machine may read them, whoever comes through a proxy may not', async () => {
  expect((await read(world.nobody)).status).toBe(200)
  const forwarded = { 'X-Forwarded-For': '203.0.113.9' }
  expect((await read(world.nobody, forwarded)).status).toBe(401)
  expect((await read(ana, forwarded)).status).toBe(403)
  expect((await read(world.root, forwarded)).status).toBe(200)
})
