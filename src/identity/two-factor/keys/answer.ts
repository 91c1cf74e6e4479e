import { z } from 'zod'
import { invalid } from '../../../base/problem.ts'

const base64url = z.string().regex(/^[\w-]+$/)
const MOST = 50_000

/** The parts that every answer of an authenticator has; the library reads the others. */
const answerSchema = z.looseObject({
  id: base64url.max(1400),
  rawId: base64url,
  type: z.literal('public-key'),
  response: z.looseObject({
    clientDataJSON: base64url,
    userHandle: z.string().nullish(),
    transports: z.array(z.string().max(30)).max(10).optional(),
  }),
  clientExtensionResults: z.looseObject({
    credProps: z.looseObject({ rk: z.boolean().optional() }).optional(),
  }),
})

/** What a browser sends back, and the challenge that it says to answer. */
export interface KeyAnswer {
  readonly parsed: z.infer<typeof answerSchema>
  readonly challenge: string
}

/** The refusal of an answer: no more is said of why. */
export const keyRefused = () => invalid({ key: ['was not accepted. Please try again.'] })

/** Reads the answer of an authenticator, as a form carries it. */
export function readAnswer(text: unknown): KeyAnswer {
  if (typeof text !== 'string' || text === '') {
    throw invalid({ key: ['is asked for by a script of the page, which did not run'] })
  }
  try {
    const parsed = answerSchema.parse(text.length > MOST ? null : JSON.parse(text))
    const data = Buffer.from(parsed.response.clientDataJSON, 'base64url').toString('utf8')
    const { challenge } = z.looseObject({ challenge: z.string() }).parse(JSON.parse(data))
    return { parsed, challenge }
  } catch {
    throw keyRefused()
  }
}

/** The library reads certificates of many kinds: it is loaded when the first key is looked at. */
export const webauthn = () => import('@simplewebauthn/server')
