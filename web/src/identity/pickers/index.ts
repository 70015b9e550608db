export { AssigneeSelect } from './AssigneeSelect';
export { MemberSelect } from './MemberSelect';
export { toPeopleOptions } from './options';
export { Person } from './Person';
export { RoleChoice } from './RoleChoice';
export { RoleSelect, ROLES, rolesUpTo, type Role } from './RoleSelect';
export { TeamSelect } from './TeamSelect';
export { useTeams } from './useTeams';
export { usePeople } from './usePeople';
