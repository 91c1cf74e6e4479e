import { notFound } from '../base/problem.ts'

/** A statement that deletes. */
interface Deletion {
  executeTakeFirst(): Promise<{ readonly numDeletedRows: bigint }>
}

/**
 * Deletes a row that was found a moment ago. 404 when somebody else was faster: what follows from a deletion is done, and
 * announced, once.
 */
export async function deleteFound(deletion: Deletion): Promise<void> {
  const { numDeletedRows } = await deletion.executeTakeFirst()
  if (numDeletedRows === 0n) throw notFound()
}
