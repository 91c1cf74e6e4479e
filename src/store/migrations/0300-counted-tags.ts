import type { Migration } from '../migration.ts'

/** Repositories of images tell how many tags they have, however many that are, without a look at them. */
export const countedTags: Migration = {
  name: '0300-counted-tags',
  sql: `
ALTER TABLE container_repositories ADD COLUMN tags_count INTEGER NOT NULL DEFAULT 0;
ALTER TABLE container_repositories ADD COLUMN tags_size INTEGER NOT NULL DEFAULT 0;
UPDATE container_repositories SET
  tags_count = (SELECT count(*) FROM container_tags t WHERE t.repository_id = container_repositories.id),
  tags_size = (SELECT coalesce(sum(t.total_size), 0) FROM container_tags t
    WHERE t.repository_id = container_repositories.id);
CREATE TRIGGER container_tags_inserted AFTER INSERT ON container_tags BEGIN
  UPDATE container_repositories SET tags_count = tags_count + 1, tags_size = tags_size + new.total_size
    WHERE id = new.repository_id;
END;
CREATE TRIGGER container_tags_deleted AFTER DELETE ON container_tags BEGIN
  UPDATE container_repositories SET tags_count = tags_count - 1, tags_size = tags_size - old.total_size
    WHERE id = old.repository_id;
END;
CREATE TRIGGER container_tags_moved AFTER UPDATE OF total_size ON container_tags BEGIN
  UPDATE container_repositories SET tags_size = tags_size + new.total_size - old.total_size
    WHERE id = new.repository_id;
END;
`,
}
