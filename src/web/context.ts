import { createContext } from 'preact'
import { useContext } from 'preact/hooks'
import type { MadeCall } from '../http/call/call.ts'

/** What was wrong with a form that is shown again, and what was typed into it. */
export interface RefusedForm {
  readonly status: number
  readonly text: string
  /** What is wrong with single fields, by their name in the endpoint. */
  readonly fields: Readonly<Record<string, readonly string[]>>
  readonly values: Readonly<Record<string, unknown>>
}

/** Who looks at a page. */
export interface Viewer {
  readonly id: number
  readonly username: string
  readonly name: string
  readonly avatarUrl: string | null
  readonly isAdmin: boolean
}

/** What every part of a page may need to know of it. */
export interface Shown {
  /** The path of the external URL, without a slash at its end: all addresses of the server lie below it. */
  readonly basePath: string
  /** The server as people reach it, such as `https://code.example/git`. */
  readonly externalUrl: string
  /** Whether git is answered over SSH too. */
  readonly hasSsh: boolean
  readonly viewer: Viewer | null
  /** The hidden field that makes a form ours. */
  readonly formToken: string
  /** The path and query of this page, below `basePath`. */
  readonly address: string
  readonly refused: RefusedForm | null
  readonly flash: Flash | null
  /** What administrators announce to everybody. */
  readonly broadcasts: readonly Broadcast[]
  /** Until when the viewer must have a second factor, where one is asked for. */
  readonly secondFactorBy: string | null
  /** Every call of the API that the page has made so far. */
  readonly calls: readonly MadeCall[]
  /** How this person likes pages: `diff=split`, `wrap=on`. */
  readonly view: ReadonlyMap<string, string>
  readonly requestId: string
}

/** A message of the administrators on this page. */
export interface Broadcast {
  readonly id: number
  /** Rendered from Markdown. */
  readonly html: string
  readonly type: 'banner' | 'notification'
  readonly theme: string
  readonly dismissable: boolean
}

/** One sentence about what the last form did. */
export interface Flash {
  readonly kind: 'notice' | 'alert'
  readonly text: string
}

const context = createContext<Shown | null>(null)

export const ShownProvider = context.Provider

/** The facts of the page that is being drawn. */
export function useShown(): Shown {
  const shown = useContext(context)
  if (!shown) throw new Error('a part of a page is drawn outside of a page')
  return shown
}
