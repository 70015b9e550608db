import { Text } from '@mantine/core';

/** A person by name and address. */
export function Person({ user }: { user: { name: string; email: string } }) {
  return (
    <>
      <Text size="sm" fw={500} dir="auto" ta="start">
        {user.name}
      </Text>
      <Text size="xs" c="dimmed" ta="start">
        {user.email}
      </Text>
    </>
  );
}
