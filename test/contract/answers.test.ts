import { afterAll, beforeAll, expect, test } from 'vitest'
import { apiEndpoints } from '../../src/areas.ts'
import type { Caller } from '../support/world.ts'
import { exampleOf, mayChange, mayWriteRepository, questionFor } from './ask.ts'
import type { Place } from './records.ts'
import { type Stage, setStage } from './stage.ts'

let stage: Stage
beforeAll(async () => {
  stage = await setStage()
}, 120_000)
afterAll(() => stage?.close())

test('every endpoint answers its example well, in its declared shape', async () => {
  const wrong: string[] = []
  for (const endpoint of apiEndpoints) {
    const name = `${endpoint.method} ${endpoint.path}`
    const example = exampleOf(endpoint)
    if (example.elsewhere || example.never) continue
    const place = stage.places.get('public') as Place
    const by = example.by ?? (endpoint.access.kind === 'admin' ? 'admin' : 'owner')
    try {
      const question = await questionFor(stage, place, endpoint)
      const reply = await question.ask(stage.callers.get(by) as Caller)
      if (reply.status >= 400)
        wrong.push(`${name}: ${reply.status} ${JSON.stringify(reply.body).slice(0, 150)}`)
      if (mayChange(endpoint, reply)) await stage.undo(mayWriteRepository(endpoint))
    } catch (error) {
      wrong.push(`${name}: ${String(error).slice(0, 200)}`)
      await stage.undo(mayWriteRepository(endpoint))
    }
  }
  expect(wrong).toEqual([])
}, 600_000)
