import { afterAll, beforeAll, expect, test } from 'vitest'
import { apiEndpoints } from '../../src/areas.ts'
import type { Endpoint } from '../../src/http/endpoint.ts'
import type { Caller, Reply } from '../support/world.ts'
import { exampleOf, hasChanged, mayWriteRepository, type Question, questionFor } from './ask.ts'
import { brokenParameters } from './broken.ts'
import { pageFaults } from './pages.ts'
import type { Place } from './records.ts'
import { type Stage, setStage } from './stage.ts'

let stage: Stage
beforeAll(async () => {
  stage = await setStage()
}, 120_000)
afterAll(() => stage?.close())

const shown = apiEndpoints.filter((endpoint) => {
  const { elsewhere, never } = exampleOf(endpoint)
  return !elsewhere && !never
})

/** Asks about each endpoint at the public place, and undoes what that changed; gives what was found wrong. */
async function faultsOf(
  endpoints: readonly Endpoint[],
  look: (endpoint: Endpoint, question: Question, caller: Caller) => Promise<readonly string[]>,
): Promise<string[]> {
  const wrong: string[] = []
  for (const endpoint of endpoints) {
    const example = exampleOf(endpoint)
    const by = example.by ?? (endpoint.access.kind === 'admin' ? 'admin' : 'owner')
    let found: readonly string[]
    try {
      const question = await questionFor(stage, stage.places.get('public') as Place, endpoint)
      found = await look(endpoint, question, stage.callers.get(by) as Caller)
    } catch (error) {
      found = [String(error).slice(0, 200)]
    }
    if (example.prepare || found.length > 0) await stage.undo(mayWriteRepository(endpoint))
    wrong.push(...found.map((text) => `${endpoint.method} ${endpoint.path}: ${text}`))
  }
  return wrong
}

/** Has words of its own for a missing parameter (docs/contract/B-resolved §1.7). */
const ownWords = new Set(['GET /projects/:id/repository/merge_base'])

/** Package clients are told in their own forms, and HEAD has no body to tell anything in. */
function speaksOf(endpoint: Endpoint, { body }: Reply, words: string): boolean {
  if (endpoint.client || endpoint.method === 'HEAD') return true
  if (ownWords.has(`${endpoint.method} ${endpoint.path}`)) return true
  return String(body?.error ?? '').includes(words)
}

test('every endpoint answers its example well, in its declared shape', async () => {
  const wrong = await faultsOf(shown, async (endpoint, question, caller) => {
    const reply = await question.ask(caller)
    if (hasChanged(endpoint, reply)) await stage.undo(mayWriteRepository(endpoint))
    return reply.status < 400 ? [] : [`${reply.status} ${JSON.stringify(reply.body).slice(0, 150)}`]
  })
  expect(wrong).toEqual([])
}, 600_000)

test('every endpoint refuses each broken parameter with 400 and its name', async () => {
  const wrong = await faultsOf(shown, async (endpoint, question, caller) => {
    const faults: string[] = []
    for (const { name, value, says } of brokenParameters(endpoint)) {
      const reply = await question.askWith(caller, { [name]: value })
      const words = says === undefined ? name : `${name} ${says}`
      if (reply.status === 400 && speaksOf(endpoint, reply, words)) continue
      const answer = JSON.stringify(reply.body).slice(0, 100)
      faults.push(`${name}=${JSON.stringify(value)}: ${reply.status} ${answer}`)
    }
    return faults
  })
  expect(wrong).toEqual([])
}, 600_000)

test('every endpoint says what is missing', async () => {
  const wrong = await faultsOf(shown, async (endpoint, question, caller) => {
    const reads = endpoint.method === 'GET' || endpoint.method === 'HEAD'
    const shape = reads ? endpoint.query : { ...endpoint.query, ...endpoint.body }
    const needed = Object.entries(shape).filter(
      ([, schema]) => !schema.safeParse(undefined).success,
    )
    const faults: string[] = []
    for (const [name] of needed) {
      const reply = await question.askWith(caller, { [name]: undefined })
      if (reply.status === 400 && speaksOf(endpoint, reply, `${name} is missing`)) continue
      faults.push(`${name}: ${reply.status} ${JSON.stringify(reply.body).slice(0, 100)}`)
    }
    return faults
  })
  expect(wrong).toEqual([])
}, 600_000)

test('every list gives each item once, page by page', async () => {
  const lists = shown.filter((endpoint) => endpoint.paginate !== undefined)
  expect(await faultsOf(lists, pageFaults)).toEqual([])
}, 600_000)
