import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { apiEndpoints } from '../../src/areas.ts'
import type { Endpoint } from '../../src/http/endpoint.ts'
import type { Caller, Reply } from '../support/world.ts'
import { exampleOf, hasChanged, mayWriteRepository, type Question, questionFor } from './ask.ts'
import { allExamples } from './examples.ts'
import type { Place } from './records.ts'
import { refusalFaults } from './refusals.ts'
import { type Stage, setStage, visibilities } from './stage.ts'

/**
 * Who may call each endpoint, seen by calling the real server with a good request: `ok` is an answer below 400, a
 * number its status otherwise, `-` was not asked. Each call that changed something is undone before the next. The table
 * was read through by people; a change of it is a change of who may do what. Write it anew with
 * `UPDATE_TABLES=1 npx vitest run --config test/vitest.config.ts test/contract/authorization.test.ts`.
 */
const table = new URL('../../fixtures/authorization.tsv', import.meta.url)

let stage: Stage
let callers: readonly (readonly [string, Caller])[]
beforeAll(async () => {
  stage = await setStage()
  callers = [...stage.callers, ...stage.tokens]
}, 120_000)
afterAll(() => stage?.close())

/** For whom visibility makes a difference: members may do the same in a public project as in a private one. */
const VISITORS = new Set(['anonymous', 'stranger', 'external', 'guest'])

function cell(reply: Reply | undefined): string {
  if (!reply) return '-'
  return reply.status < 400 ? 'ok' : String(reply.status)
}

/** What each of the callers is answered at a place. What was changed is undone before the next one asks. */
async function repliesOf(
  endpoint: Endpoint,
  place: Place,
  callers: readonly (readonly [string, Caller])[],
): Promise<Map<string, Reply>> {
  const undo = () => stage.undo(mayWriteRepository(endpoint))
  const isPrepared = exampleOf(endpoint).prepare !== undefined
  const replies = new Map<string, Reply>()
  let question: Question | undefined
  let prepareAgain: (() => Promise<void>) | undefined
  for (const [name, caller] of callers) {
    if (!question) {
      question = await questionFor(stage, place, endpoint)
      prepareAgain = isPrepared && !mayWriteRepository(endpoint) ? await stage.mark() : undefined
    }
    const reply = await question.ask(caller)
    replies.set(name, reply)
    if (!hasChanged(endpoint, reply)) continue
    if (prepareAgain) {
      await prepareAgain()
      continue
    }
    await undo()
    question = undefined
  }
  if (question && isPrepared) await undo()
  return replies
}

/** Refusals that say something else than why. */
const misworded: string[] = []

async function rowsOf(endpoint: Endpoint): Promise<string[]> {
  const hasPlace = /^\/(projects|groups)\/:/.test(endpoint.path)
  const rows: string[] = []
  for (const visibility of hasPlace ? visibilities : (['private'] as const)) {
    const place = stage.places.get(visibility) as Place
    const asked = callers.filter(([name]) => visibility === 'private' || VISITORS.has(name))
    const replies = await repliesOf(endpoint, place, asked)
    if (visibility === 'private') {
      const ofPeople = new Map([...replies].filter(([name]) => stage.callers.has(name)))
      misworded.push(...refusalFaults(endpoint, ofPeople))
    }
    rows.push(
      [
        endpoint.method,
        endpoint.path,
        hasPlace ? visibility : '-',
        ...callers.map(([name]) => cell(replies.get(name))),
      ].join('\t'),
    )
  }
  return rows
}

test('every endpoint admits exactly those whom the reviewed table names', async () => {
  const names = callers.map(([name]) => name)
  const lines = [['method', 'path', 'visibility', ...names].join('\t')]
  const sorted = [...apiEndpoints].sort((a, b) =>
    `${a.path} ${a.method}` < `${b.path} ${b.method}` ? -1 : 1,
  )
  for (const endpoint of sorted) lines.push(...(await rowsOf(endpoint)))
  const found = `${lines.join('\n')}\n`
  if (process.env.UPDATE_TABLES) writeFileSync(table, found)
  expect(existsSync(table), 'fixtures/authorization.tsv is there').toBe(true)
  expect(found).not.toMatch(/\t5\d\d(\t|$)/m)
  expect(found).toBe(readFileSync(table, 'utf8'))
}, 1_200_000)

test('refusals say 401 Unauthorized, 403 Forbidden or 404 Not Found', () => {
  expect(misworded).toEqual([])
})

test('every example is of an endpoint that exists', () => {
  const known = new Set(apiEndpoints.map((one) => `${one.method} ${one.path}`))
  expect(Object.keys(allExamples).filter((name) => !known.has(name))).toEqual([])
})
