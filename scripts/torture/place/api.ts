import { type Agent, FormData, fetch } from 'undici'

export interface ApiReply {
  readonly status: number
  /** Parsed JSON, or the text when it is none. */
  readonly body: unknown
}

/** Somebody who uses the API as an honest client does. */
export class Api {
  readonly url: string
  readonly token: string | undefined
  readonly #agent: Agent

  constructor(url: string, token: string | undefined, agent: Agent) {
    this.url = url
    this.token = token
    this.#agent = agent
  }

  /** The same connections with another token. */
  as(token: string | undefined): Api {
    return new Api(this.url, token, this.#agent)
  }

  /** Calls a path below `/api/v4`; a body that is no form goes as JSON. */
  async call(method: string, path: string, body?: unknown): Promise<ApiReply> {
    const headers: Record<string, string> = {}
    if (this.token !== undefined) headers['private-token'] = this.token
    const isForm = body instanceof FormData
    if (body !== undefined && !isForm) headers['content-type'] = 'application/json'
    const response = await fetch(`${this.url}/api/v4${path}`, {
      method,
      headers,
      redirect: 'manual',
      dispatcher: this.#agent,
      ...(body === undefined ? {} : { body: isForm ? body : JSON.stringify(body) }),
      signal: AbortSignal.timeout(60_000),
    })
    return { status: response.status, body: parsed(await response.text()) }
  }

  /** As `call`, for what must go well: its record. */
  async must(method: string, path: string, body?: unknown): Promise<ApiRecord> {
    const reply = await this.call(method, path, body)
    if (reply.status < 300) return asRecord(reply.body)
    throw new Error(`${method} ${path}: ${reply.status} ${JSON.stringify(reply.body)}`)
  }

  close(): Promise<void> {
    return this.#agent.destroy()
  }
}

/** A record of an answer, as far as it is known: an object with some fields. */
export type ApiRecord = Readonly<Record<string, unknown>>

export function asRecord(value: unknown): ApiRecord {
  return typeof value === 'object' && value !== null ? (value as ApiRecord) : {}
}

/** The records of a list; of anything else none. */
export function asRecords(value: unknown): ApiRecord[] {
  return Array.isArray(value) ? value.map(asRecord) : []
}

/** A form with one file. */
export function fileForm(name: string, content: Buffer | string, field = 'file'): FormData {
  const form = new FormData()
  form.set(field, new Blob([new Uint8Array(Buffer.from(content))]), name)
  return form
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
