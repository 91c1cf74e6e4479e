import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { apiEndpoints } from '../../src/areas.ts'
import type { Endpoint } from '../../src/http/endpoint.ts'
import type { Caller, Reply } from '../support/world.ts'
import { mayChange, mayWriteRepository, type Question, questionFor } from './ask.ts'
import { allExamples } from './examples.ts'
import type { Place } from './records.ts'
import { type Stage, setStage, visibilities } from './stage.ts'

/**
 * Who may call each endpoint, seen by calling the real server with a good request: `ok` is an answer below 400, a
 * number its status otherwise, `-` was not asked. Each call that changed something is undone before the next. The table
 * was read through by people; a change of it is a change of who may do what. Write it anew with
 * `UPDATE_TABLES=1 npx vitest run --config test/vitest.config.ts test/contract/authorization.test.ts`.
 */
const table = new URL('../../fixtures/authorization.tsv', import.meta.url)

let stage: Stage
let people: readonly (readonly [string, Caller])[]
let tokens: readonly (readonly [string, Caller])[]
beforeAll(async () => {
  stage = await setStage()
  people = [...stage.callers]
  tokens = [...stage.tokens]
}, 120_000)
afterAll(() => stage?.close())

/** For whom visibility makes a difference: members may do the same in a public project as in a private one. */
const VISITORS = new Set(['anonymous', 'stranger', 'external', 'guest'])

function cell(reply: Reply): string {
  return reply.status < 400 ? 'ok' : String(reply.status)
}

async function ask(endpoint: Endpoint, place: Place, caller: Caller): Promise<string> {
  const question = await prepared(endpoint, place)
  const reply = await question.ask(caller)
  if (mayChange(endpoint, reply)) {
    questions.delete(endpoint)
    await stage.undo(mayWriteRepository(endpoint))
  }
  return cell(reply)
}

/** The question of an endpoint whose preparation still stands. */
const questions = new Map<Endpoint, { place: Place; question: Question }>()

async function prepared(endpoint: Endpoint, place: Place): Promise<Question> {
  const known = questions.get(endpoint)
  if (known?.place === place) return known.question
  const question = await questionFor(stage, place, endpoint)
  questions.clear()
  questions.set(endpoint, { place, question })
  return question
}

async function rowsOf(endpoint: Endpoint): Promise<string[]> {
  const hasPlace = /^\/(projects|groups)\/:/.test(endpoint.path)
  const rows: string[] = []
  for (const visibility of hasPlace ? visibilities : (['private'] as const)) {
    const place = stage.places.get(visibility) as Place
    const cells: string[] = []
    for (const [name, caller] of [...people, ...tokens]) {
      const asked = visibility === 'private' || VISITORS.has(name)
      cells.push(asked ? await ask(endpoint, place, caller) : '-')
    }
    rows.push([endpoint.method, endpoint.path, hasPlace ? visibility : '-', ...cells].join('\t'))
  }
  return rows
}

test('every endpoint admits exactly those whom the reviewed table names', async () => {
  const names = [...people, ...tokens].map(([name]) => name)
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

test('every example is of an endpoint that exists', () => {
  const known = new Set(apiEndpoints.map((one) => `${one.method} ${one.path}`))
  expect(Object.keys(allExamples).filter((name) => !known.has(name))).toEqual([])
})
