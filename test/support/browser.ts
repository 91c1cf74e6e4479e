import { type Dispatcher, request } from 'undici'
import { headersOf } from './world.ts'

/** A page or redirect, as a browser without scripts sees it. */
export interface Shown {
  readonly status: number
  readonly text: string
  readonly location: string | null
  readonly headers: Headers
}

/** A browser: keeps cookies, fills forms in, follows nothing by itself. */
export class Browser {
  readonly url: string
  readonly cookies = new Map<string, string>()

  constructor(url: string) {
    this.url = url
  }

  get(path: string): Promise<Shown> {
    return this.#send('GET', path)
  }

  /** Sends the form of a page with its hidden fields. */
  submit(form: Shown, path: string, fields: Readonly<Record<string, string>>): Promise<Shown> {
    const hidden = [
      ...form.text.matchAll(/<input type="hidden" name="([^"]+)" value="([^"]*)"\/?>/g),
    ]
    const known = hidden.map(([, name = '', value = '']) => [name, plainText(value)])
    return this.post(path, { ...Object.fromEntries(known), ...fields })
  }

  post(path: string, fields: Readonly<Record<string, string>>): Promise<Shown> {
    return this.#send('POST', path, new URLSearchParams(fields))
  }

  /** Signs in at the page. */
  async signIn(login: string, password: string): Promise<Shown> {
    const form = await this.get('/users/sign_in')
    return this.submit(form, '/users/sign_in', { 'user[login]': login, 'user[password]': password })
  }

  async #send(method: string, path: string, body?: URLSearchParams): Promise<Shown> {
    const cookie = [...this.cookies].map(([name, value]) => `${name}=${value}`).join('; ')
    // By `fetch` each page would take half as long again, and be packed and unpacked.
    const response = await request(new URL(path, this.url), {
      method: method as Dispatcher.HttpMethod,
      headers: {
        Accept: 'text/html',
        ...(cookie === '' ? {} : { Cookie: cookie }),
        ...(body ? { 'Content-Type': 'application/x-www-form-urlencoded' } : {}),
      },
      body: body?.toString() ?? null,
    })
    const headers = headersOf(response.headers)
    for (const line of headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? []
      if (/Max-Age=0/.test(line)) this.cookies.delete(name)
      else this.cookies.set(name, value)
    }
    return {
      status: response.statusCode,
      text: await response.body.text(),
      location: headers.get('location'),
      headers,
    }
  }
}

function plainText(text: string): string {
  return text
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&amp;', '&')
}
