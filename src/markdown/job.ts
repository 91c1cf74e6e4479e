/** A text that is a link wherever it stands. */
export interface LinkedText {
  readonly text: string
  readonly url: string
  /** What is shown instead, such as a label's title without its sign. */
  readonly shown?: string
}

export interface MarkdownJob {
  readonly text: string
  readonly references: readonly LinkedText[]
  /** Addresses of this server, with the short form of what they lead to. */
  readonly addresses: readonly (readonly [string, string])[]
  /** Where links without a scheme lead; null leaves them as they are. */
  readonly place: {
    readonly base: string
    readonly uploads: string
    /** As it stands in an address. */
    readonly ref: string | null
  } | null
  /** Links that begin with it stay in the window. */
  readonly own: string
  /** One line, without paragraphs. */
  readonly inline: boolean
}
