/** Something that a to-do is about, as its own endpoint presents it. */
export type TodoTargetShown = { readonly id: number } & Readonly<Record<string, unknown>>

declare module '../ctx.ts' {
  interface Readers {
    /** What to-dos are about, by their type: those of the ids that the caller may see. */
    readonly todoTargets: Readonly<
      Record<
        'Issue' | 'MergeRequest',
        (ctx: Ctx, ids: readonly number[]) => Promise<readonly TodoTargetShown[]>
      >
    >
  }
}
