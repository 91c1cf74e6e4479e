import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { Problem } from '../../src/base/problem.ts'
import { readJson } from '../../src/http/body/json.ts'
import { unpackedHead } from '../../src/http/body/packed.ts'
import { readEnvelope, readHeader } from '../../src/monitoring/error-ingestion/envelope.ts'
import { describeEvent, readEvent } from '../../src/monitoring/errors/event.ts'
import { stackOf } from '../../src/monitoring/errors/stack-trace.ts'
import { isObject } from '../../src/monitoring/ingestion/alert-input.ts'
import { readGeneric } from '../../src/monitoring/ingestion/generic.ts'
import type { FieldMapping } from '../../src/monitoring/ingestion/mapping.ts'
import { isMetrics, readMetrics } from '../../src/monitoring/ingestion/metrics.ts'
import { payloadFields } from '../../src/monitoring/ingestion/payload-fields.ts'
import { runs } from '../support/runs.ts'
import { metric, metrics } from './alerts.ts'
import { exampleEvent, inEnvelope } from './errors.ts'

const now = '2026-05-04T10:00:00.000Z'
const many = runs(100, 81, 10_000)
const limits = { jsonDepth: 100, jsonValues: 200_000 }

/** What one input gives, within a second; a refusal is fine, anything else thrown is a fault. */
function tried<T>(act: () => T): T | undefined {
  const begun = performance.now()
  try {
    return act()
  } catch (error) {
    if (!(error instanceof Problem)) throw error
    expect(error.status).toBeLessThan(500)
    return undefined
  } finally {
    expect(performance.now() - begun).toBeLessThan(1000)
  }
}

/** A text with some of it cut out, written over, or put in. */
function damaged(text: string): fc.Arbitrary<Buffer> {
  const change = fc.record({
    at: fc.nat(text.length),
    removed: fc.nat(20),
    put: fc.uint8Array({ maxLength: 8 }),
  })
  return fc.tuple(fc.array(change, { maxLength: 4 }), fc.nat(text.length)).map(([changes, cut]) => {
    let bytes = Buffer.from(text)
    for (const { at, removed, put } of changes) {
      bytes = Buffer.concat([bytes.subarray(0, at), put, bytes.subarray(at + removed)])
    }
    return cut % 3 === 0 ? bytes.subarray(0, cut) : bytes
  })
}

/** Reads the payload of an event to its end, or sees it refused. */
async function readReport(payload: Buffer): Promise<void> {
  const event = await readJson(payload, limits, () => {}).catch((error: unknown) => error)
  if (event instanceof Problem) expect(event.status).toBe(400)
  else if (isObject(event)) tried(() => stackOf(readEvent(event, now) && event))
  else throw event
}

/** Values under the names that the readers look at. */
function named(...names: string[]): fc.Arbitrary<Record<string, unknown>> {
  const value = fc.oneof(fc.jsonValue(), fc.string(), fc.double(), fc.constant(null))
  return fc.dictionary(fc.constantFrom(...names), value, { maxKeys: 8 })
}

describe('whatever comes in', () => {
  const envelopes = [
    inEnvelope(exampleEvent()),
    `{"dsn":"https://a@b/1"}\n{"type":"session"}\n{}\n${inEnvelope(exampleEvent()).slice(3)}`,
  ]

  test('as an envelope is read or refused', async () => {
    const bytes = fc.oneof(
      fc.uint8Array({ maxLength: 300 }).map((some) => Buffer.from(some)),
      ...envelopes.map(damaged),
    )
    await fc.assert(
      fc.asyncProperty(bytes, async (some) => {
        tried(() => readHeader(some))
        const read = tried(() => readEnvelope(some))
        for (const { type, payload } of read?.items ?? []) {
          if (type === 'event') await readReport(payload)
        }
      }),
      many,
    )
  }, 120_000)

  test('packed, broken or cut short, gives the beginning that can be read', async () => {
    const encoding = fc.constantFrom('gzip', 'x-gzip', 'deflate', 'br', 'zstd', 'lzma', 'identity')
    const bytes = fc.uint8Array({ maxLength: 200 })
    await fc.assert(
      fc.asyncProperty(encoding, bytes, async (name, some) => {
        const head = await unpackedHead(name, Buffer.from(some), 1000)
        expect(head.length).toBeLessThanOrEqual(1000)
      }),
      runs(100, 81),
    )
  }, 120_000)

  test('as an event is read into bounded fields or refused', () => {
    const frames = fc.array(
      named('filename', 'function', 'module', 'lineno', 'colno', 'in_app', 'pre_context'),
      { maxLength: 4 },
    )
    const exception = fc
      .tuple(named('type', 'value', 'stacktrace'), frames)
      .map(([some, list]) => ({ ...some, stacktrace: { frames: list } }))
    const event = fc
      .tuple(
        named('event_id', 'timestamp', 'platform', 'level', 'user', 'message', 'logentry'),
        fc.option(fc.oneof(fc.jsonValue(), fc.array(exception, { maxLength: 3 }))),
      )
      .map(([some, exceptions]) => ({ ...some, exception: exceptions }))
    fc.assert(
      fc.property(event, (some) => {
        const read = tried(() => readEvent(some, now))
        if (!read) return
        expect(read.eventId).toMatch(/^[0-9a-f]{32}$/)
        expect(read.name.length).toBeLessThanOrEqual(255)
        expect(read.description.length).toBeLessThanOrEqual(1024)
        expect(read.occurredAt <= now).toBe(true)
        tried(() => stackOf(some))
      }),
      many,
    )
  }, 120_000)

  test('as an event with a message is never refused, whatever stands for its exceptions', () => {
    const item = fc.oneof(fc.jsonValue(), named('type', 'value', 'stacktrace'))
    const list = fc.oneof(item, fc.array(item, { maxLength: 3 }))
    const exception = fc.oneof(list, fc.record({ values: list }))
    fc.assert(
      fc.property(exception, fc.boolean(), (some, isMessage) => {
        const event = { exception: some, ...(isMessage ? { message: 'said' } : {}) }
        const text = { exception: [some, { type: 'E', value: some }] }
        expect(readEvent(text, now).name).not.toBe('')
        expect(stackOf(text)).toBeInstanceOf(Array)
        if (isMessage) expect(readEvent(event, now).name).not.toBe('')
        else tried(() => readEvent(event, now))
        expect(describeEvent(event, now).description.length).toBeLessThanOrEqual(1024)
      }),
      many,
    )
  }, 120_000)

  test('as a generic alert is read, with fields of bounded length', () => {
    const payload = named(
      'title',
      'description',
      'start_time',
      'end_time',
      'hosts',
      'severity',
      'fingerprint',
      'svc_environment_name',
      'more',
    )
    const mapping = fc.record({
      field_name: fc.constantFrom('title', 'end_time', 'hosts', 'fingerprint', 'severity'),
      path: fc.array(fc.oneof(fc.string(), fc.nat(5), fc.constantFrom('more', 'title')), {
        maxLength: 4,
      }),
      type: fc.constantFrom('string', 'datetime', 'array', 'number'),
      label: fc.constant(null),
    })
    fc.assert(
      fc.property(payload, fc.array(mapping, { maxLength: 2 }), (some, mappings) => {
        const alert = tried(() =>
          readGeneric(some, mappings as readonly FieldMapping[], { now, fingerprints: true }),
        )
        expect(alert?.title.length).toBeLessThanOrEqual(200)
        expect(alert?.hosts.join('').length).toBeLessThanOrEqual(255)
        expect(alert?.fingerprint ?? '0'.repeat(40)).toMatch(/^[0-9a-f]{40}$/)
        expect(payloadFields(some).length).toBeLessThanOrEqual(1000)
      }),
      many,
    )
  }, 120_000)

  test('as a delivery of metrics is read or refused, cut and damaged anywhere', async () => {
    const text = JSON.stringify(metrics([metric('a'), metric('b', { status: 'resolved' })]))
    const element = named('labels', 'annotations', 'startsAt', 'endsAt', 'generatorURL', 'status')
    fc.assert(
      fc.property(fc.array(element, { maxLength: 4 }), (some) => {
        const read = tried(() => readMetrics(metrics(some), []))
        expect(read?.length).toBeLessThanOrEqual(some.length)
      }),
      many,
    )
    await fc.assert(
      fc.asyncProperty(damaged(text), async (bytes) => {
        const body = await readJson(bytes, limits, () => {}).catch((error: unknown) => error)
        if (body instanceof Problem) expect(body.status).toBe(400)
        else if (isObject(body)) tried(() => isMetrics(body) && readMetrics(body, []))
        else throw body
      }),
      many,
    )
  }, 120_000)
})
