import { readFileSync } from 'node:fs'
import type { Endpoint } from '../../src/http/endpoint.ts'
import type { Caller } from '../support/world.ts'
import type { Question } from './ask.ts'

const [head = '', ...lines] = readFileSync(
  new URL('../../fixtures/authorization.tsv', import.meta.url),
  'utf8',
)
  .trimEnd()
  .split('\n')
const [, , , ...callers] = head.split('\t')

/** What the reviewed table says of an endpoint at a private place, by caller. */
const reviewed = new Map(
  lines.flatMap((line) => {
    const [method, path, visibility, ...cells] = line.split('\t')
    if (visibility !== 'private' && visibility !== '-') return []
    return [[`${method} ${path}`, new Map(callers.map((name, at) => [name, cells[at]]))]]
  }),
)

const words: Readonly<Record<string, RegExp>> = {
  401: /^401 Unauthorized$/,
  403: /^403 Forbidden/,
  404: /^(404 (.+ )?Not [Ff]ound|Alert not found)$/,
}

/** What is wrong with the refusals of nobody and of the mightiest member who may not call it. */
export async function refusalFaults(
  endpoint: Endpoint,
  question: Question,
  byName: ReadonlyMap<string, Caller>,
): Promise<string[]> {
  const row = reviewed.get(`${endpoint.method} ${endpoint.path}`)
  if (!row) return ['is not in fixtures/authorization.tsv']
  const wrong: string[] = []
  const refused = callers.filter((name) => /^40[134]$/.test(row.get(name) ?? ''))
  const lesser = refused.filter((name) => byName.has(name) && name !== 'anonymous').at(-1)
  for (const name of [...refused.filter((one) => one === 'anonymous'), lesser]) {
    const caller = name === undefined ? undefined : byName.get(name)
    if (name === undefined || !caller) continue
    const reply = await question.ask(caller)
    const expected = row.get(name) ?? ''
    const message = reply.body?.message ?? reply.body?.error
    const isWorded = endpoint.client || endpoint.method === 'HEAD' || words[expected]?.test(message)
    if (String(reply.status) === expected && isWorded) continue
    wrong.push(`${name}: ${reply.status} ${JSON.stringify(reply.body).slice(0, 100)}`)
  }
  return wrong
}
