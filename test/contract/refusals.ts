import type { Endpoint } from '../../src/http/endpoint.ts'
import type { Reply } from '../support/world.ts'
import { exampleOf } from './ask.ts'

const words: Readonly<Record<number, RegExp>> = {
  401: /^401 Unauthorized$/,
  403: /^403 Forbidden/,
  404: /^(404 (.+ )?Not [Ff]ound|Alert not found)$/,
}

/** What is wrong with the words for nobody and for the mightiest person who may not call it. */
export function refusalFaults(endpoint: Endpoint, replies: ReadonlyMap<string, Reply>): string[] {
  const { elsewhere, never } = exampleOf(endpoint)
  if (elsewhere || never || endpoint.client || endpoint.method === 'HEAD') return []
  const refused = [...replies].filter(([, { status }]) => status in words)
  const nobody = refused.filter(([name]) => name === 'anonymous')
  const mightiest = refused.filter(([name]) => name !== 'anonymous').slice(-1)
  return [...nobody, ...mightiest].flatMap(([name, { status, body }]) => {
    if (words[status]?.test(body?.message ?? body?.error)) return []
    const answer = JSON.stringify(body).slice(0, 100)
    return [`${endpoint.method} ${endpoint.path}: ${name}: ${status} ${answer}`]
  })
}
