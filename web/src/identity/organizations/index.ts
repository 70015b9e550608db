export { SettingsFrame } from './SettingsFrame';
